"""Sketches of documents: minima, weighted samples, least hashes, and greedy clusters."""
