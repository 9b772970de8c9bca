"""Slow and obviously right versions of what neardup does; they import nothing from it."""
