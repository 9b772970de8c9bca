"""Recall and wrong removals against exact truth."""
