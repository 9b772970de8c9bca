"""Search for test items planted in training text: the tables of docs/leakage.md."""
