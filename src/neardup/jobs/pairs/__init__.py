"""Pairs of similar documents, within one collection or between two."""
