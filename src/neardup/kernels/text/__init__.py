"""Texts to folded characters, tokens, shingles and their weights."""
