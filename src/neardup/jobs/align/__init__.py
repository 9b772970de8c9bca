"""Passages that two collections share."""
