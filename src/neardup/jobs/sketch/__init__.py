"""Sketches of documents, and what is estimated from them."""
