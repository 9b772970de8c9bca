"""Jobs, one package or module each: stages in order, and the result."""
