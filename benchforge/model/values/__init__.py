"""Values that every model is made of: quantities, CPU sets, case names."""
