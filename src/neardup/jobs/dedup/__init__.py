"""Near-duplicate documents: which stay, which go, and for which other document each one goes."""
