"""Passages: windows of texts, candidates, alignment, chains, and repeats."""
