"""HTTP requests from inside a trial, and what they prove."""
