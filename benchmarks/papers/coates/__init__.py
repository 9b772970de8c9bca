"""Signatures whose edit distance estimates that of texts, Coates (2011): docs/papers/coates.md."""
