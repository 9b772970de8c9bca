"""Exact set similarity, and joins over an inverted index."""
