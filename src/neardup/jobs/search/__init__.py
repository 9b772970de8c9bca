"""Searching in an index, of documents or of passages."""
