"""The text that is read: corpora from packages and given files, near-copies, made-up text."""
