"""Documents deduplicated: the whole job, many near-copies, and where neardup loses."""
