"""Commands that few need: each a folder, named by an entry point."""
