"""Pages of cuts: what texts repeated, where it went, and where it stays."""
