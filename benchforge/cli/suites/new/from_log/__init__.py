"""`benchforge new suite --from-log`: a suite whose mix of requests is that of an access log."""
