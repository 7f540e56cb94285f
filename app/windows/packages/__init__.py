"""Giving work to others as a package, taking back what they did, and what a package says of itself."""
