"""Commands that read or write suites, and measure nothing."""
