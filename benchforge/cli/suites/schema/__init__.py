"""`benchforge schema`: the JSON Schema of suites and of result files."""
