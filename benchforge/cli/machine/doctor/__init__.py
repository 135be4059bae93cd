"""`benchforge doctor`: which programs this machine has, and whether it is fit."""
