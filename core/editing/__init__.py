"""Editing: tracked changes on text, and a model's edits of a selection."""
