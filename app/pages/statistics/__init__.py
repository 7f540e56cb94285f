"""The Statistics page."""
