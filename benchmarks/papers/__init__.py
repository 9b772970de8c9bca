"""Experiments of papers, repeated: one command each, results beside the paper's in docs/papers."""
