"""Estimates of near-copies from sketches alone."""
