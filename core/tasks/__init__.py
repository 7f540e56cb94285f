"""Tasks: the template, its validation, and reading a task's sections out of free text."""
