"""Runs of equal tokens found and removed, beside a suffix array."""
