"""Web pages and crawls: files, columns and records whose text is what a page shows."""
