"""`python -m benchforge`."""

from benchforge.cli import main

main()
