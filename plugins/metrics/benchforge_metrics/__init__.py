"""The built-in metrics: each draws its samples from one measured trial."""
