"""Where processes run: execute.py walks the plan."""
