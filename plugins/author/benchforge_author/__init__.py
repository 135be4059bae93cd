"""What a plugin's author is told before anybody measures with it: a part asked as a run asks it."""
