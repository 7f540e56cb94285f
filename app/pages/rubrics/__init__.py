"""Rubrics: read."""
