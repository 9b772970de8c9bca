"""A collection: the first pass over it, what is remembered of it, and the second pass."""
