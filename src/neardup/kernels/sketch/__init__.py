"""Minima, weighted samples, least hashes and greedy clusters of documents."""
