"""What all commands share: options, progress, and what they print."""
