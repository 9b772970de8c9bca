"""A collection without the documents that a table names."""
