"""The namespaces of a trial, and the processes in them."""
