"""Alignment: shared passages of two collections."""
