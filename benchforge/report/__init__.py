"""What pages, charts and JUnit files are drawn with, by commands and reporters."""
