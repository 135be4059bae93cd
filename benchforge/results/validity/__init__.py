"""Rules that every honest result keeps, file by file and between files."""
