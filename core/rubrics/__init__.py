"""Rubrics: what experts look for in the outputs of a task, item by item."""
