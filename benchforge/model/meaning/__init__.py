"""What the numbers of a result must be to one another: rules that every honest result keeps."""
