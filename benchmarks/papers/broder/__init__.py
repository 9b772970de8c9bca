"""Sketches after Broder (1997), and super-shingles: docs/papers/broder.md."""
