"""What is found of test items planted in training text: the tables of docs/leakage.md."""
