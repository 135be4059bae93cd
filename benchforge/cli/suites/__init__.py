"""Commands about suites: `new`, `check`, `plan`, `doctor`, `schema`."""
