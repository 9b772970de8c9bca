"""Passages: windows of texts, candidates, alignment, chains, and what texts repeat."""
