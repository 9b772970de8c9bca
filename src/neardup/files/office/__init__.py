"""Office documents, e-books and PDF: files of which one document's text is extracted."""
