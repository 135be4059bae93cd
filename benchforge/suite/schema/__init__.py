"""The JSON Schema of suites."""
