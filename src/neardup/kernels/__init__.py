"""Compiled loops over arrays. They see arrays and numbers only; callers check and allocate."""
