"""The engine `ssh`: OpenSSH carries lines of JSON."""
