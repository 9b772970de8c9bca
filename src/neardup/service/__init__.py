"""Indexes over HTTP: the service and its page, and the client; ``neardup.connect`` is public."""
