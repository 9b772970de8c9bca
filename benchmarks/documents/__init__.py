"""An index of documents: built, opened, looked up in, added to."""
