"""Making, changing and opening an index, of documents or of passages."""
