"""Commands about this machine: its programs, its noise, its disk."""
