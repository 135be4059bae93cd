"""A page in one file that opens without a network: frame, templates, styles."""
