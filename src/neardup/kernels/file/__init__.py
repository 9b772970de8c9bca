"""Bytes of files: rows, JSON strings, and what a reader sees of a page."""
