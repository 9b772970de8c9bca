"""Bytes of files: rows, JSON strings, and the visible text of pages."""
