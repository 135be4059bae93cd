"""What all charts are drawn with: an axis, pieces of SVG, two style sheets, and a file of it."""
