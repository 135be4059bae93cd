"""`benchforge clean`: what benchforge keeps on the disk, and its removal."""
