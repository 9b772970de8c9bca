"""Any amount of text: made-up collections of known near-copies, and how cost grows with size."""
