"""Repeated passages, paragraphs and lines cut out of the texts of a collection."""
