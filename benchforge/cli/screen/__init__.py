"""What commands print: text, columns, progress."""
