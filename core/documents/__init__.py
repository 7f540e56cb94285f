"""Documents: reading files, cutting them into passages, and finding passages again."""
