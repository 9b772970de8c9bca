"""Compiled loops over arrays and numbers; callers check and allocate."""
