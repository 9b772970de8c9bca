"""Passages: similar parts of long texts, found through windows of min-hashes."""
