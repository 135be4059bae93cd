"""Common parts of commands: options, progress and output."""
