"""Indexes over HTTP: the service, its page and its client; ``neardup.connect`` is public."""
