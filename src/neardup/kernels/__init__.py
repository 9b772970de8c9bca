"""Compiled loops over arrays that callers check and allocate."""
