"""Scores of long-form text, edits, graphs, checklists, and of the agreement between judges."""
