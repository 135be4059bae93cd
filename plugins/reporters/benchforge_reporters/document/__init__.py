"""What a result says, as values: each form renders them, and computes nothing."""
