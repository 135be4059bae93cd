"""Locust."""
