"""Ratios against the plain way of computing the same numbers, and growth with size; run as scripts."""
