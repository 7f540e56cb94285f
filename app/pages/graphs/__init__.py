"""Graphs: canvas and outline over the same rows, checks, suggestions and comparison."""
