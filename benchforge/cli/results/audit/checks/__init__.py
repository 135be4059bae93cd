"""Identities that the numbers of a row or a table must satisfy."""
