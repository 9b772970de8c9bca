"""Text in memory to signatures: the compiled kernels in one thread."""
