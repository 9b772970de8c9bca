"""Deduplication: kept and removed documents, and their keepers."""
