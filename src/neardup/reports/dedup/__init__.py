"""The page of a deduplication: figures of what went, and the words around them."""
