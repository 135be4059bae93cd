"""The engine `dask`: a worker of a cluster starts the far end, and dask carries its lines."""
