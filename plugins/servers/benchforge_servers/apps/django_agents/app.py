"""The agents of study AH, served by Django and psycopg2."""

import sys

# Django takes psycopg 3 wherever it is installed, and psycopg2 only where it is not.
sys.modules["psycopg"] = None

from agents import app  # noqa: E402, F401
