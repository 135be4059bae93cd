"""What plugins subclass and return: questions to answer, and nothing that starts a process."""
