"""The page of a table of pairs: how similar they are, who is in how many, and what labels say."""
