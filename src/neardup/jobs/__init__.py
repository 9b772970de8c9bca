"""Jobs: the stages of each in order, and its result."""
