"""Indexes of documents."""
