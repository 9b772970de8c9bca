"""Edit distance: signatures, how they align, and joins of strings."""
