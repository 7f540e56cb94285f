"""Tasks: describe and validate."""
