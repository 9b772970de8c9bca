"""Other libraries at neardup's work: a script each, run in environments of their own."""
