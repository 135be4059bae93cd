"""Whether a trial, a comparison or a session is to be believed: pure functions, a file a family."""
