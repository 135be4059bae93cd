"""Charts as SVG: axes, marks, and the files."""
