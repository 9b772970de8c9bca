"""Pages of reports: what they take to make, and to be opened and used in a browser."""
