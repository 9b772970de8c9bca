"""Pairs, components and survivors of documents with equal keys."""
