"""Detailed comparison of two texts."""
