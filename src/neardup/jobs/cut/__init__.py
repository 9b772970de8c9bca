"""Cutting: repeated passages, paragraphs and lines removed from texts."""
