"""Commands that read results: `report`, `validate`, `verify`, `clean`."""
