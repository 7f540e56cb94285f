"""Examples: read, edit, import."""
