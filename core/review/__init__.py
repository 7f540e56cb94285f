"""Review: ratings, preferences, and where each person stands with each output."""
