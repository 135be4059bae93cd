"""Answers of servers: before and after a load, and at random moments of it."""
