"""Exact similarity of two sets, and joins of collections over an inverted index."""
