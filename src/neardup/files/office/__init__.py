"""Office documents, e-books and PDF: the text of a file is one document."""
