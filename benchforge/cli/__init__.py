"""The command line: a folder a command, by what it works on."""
