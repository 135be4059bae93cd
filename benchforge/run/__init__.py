"""Where processes run: the only floor that starts any."""
