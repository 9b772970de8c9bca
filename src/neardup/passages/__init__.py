"""Passages: parts of long texts that are nearly the same, found through windows of min-hashes."""
