"""Sketches after Broder (1997), bands of min-hashes, super-shingles: docs/papers/broder.md."""
