"""Experiments of papers, repeated: a folder each, results beside the paper's in docs/papers."""
