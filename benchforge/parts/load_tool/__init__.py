"""The bases of load tools that print what they measured."""
