"""Passages: an index of them, search, and the alignment of collections."""
