"""Jobs, a room each: its stages in order, read top to bottom, and its result."""
