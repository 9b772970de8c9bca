"""What is found and what is wrongly removed, against exact truth."""
