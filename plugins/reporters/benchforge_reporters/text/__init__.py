"""The text of all reports: numbers, tables, sentences."""
