"""Creation, changes and opening of document and passage indexes."""
