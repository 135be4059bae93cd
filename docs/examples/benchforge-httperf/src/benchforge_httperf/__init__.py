"""The load tool httperf and the server of Bottle, for benchforge."""
