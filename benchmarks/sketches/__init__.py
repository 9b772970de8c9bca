"""Sketches made and compared, and what datasketch needs for the weighted ones."""
