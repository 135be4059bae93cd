"""`benchforge calibrate`: how loud this machine is, measured in rounds of the null server."""
