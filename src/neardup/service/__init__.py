"""Indexes over HTTP, with ``neardup.connect`` as the public client."""
