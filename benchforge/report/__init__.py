"""Pages, charts and JUnit files, for commands and reporters."""
