"""The agents of study AH, served by Django and psycopg 3."""

import psycopg  # noqa: F401 - else Django would quietly take psycopg2
from agents import app  # noqa: F401
