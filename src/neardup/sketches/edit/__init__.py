"""The kind edit: symbols of some windows of a text, in text order."""
