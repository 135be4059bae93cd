"""Everything that starts processes: execute.py walks the plan."""
