"""Programs and interpreters: where they are, which version, how they are fetched."""
