"""Reading of collections: first pass, catalogue, and second pass."""
