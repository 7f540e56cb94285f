"""The Settings page: the person, the look, the lock, the keys."""
