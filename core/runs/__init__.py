"""Runs: systems, what they are asked, what they wrote, and how it scored."""
