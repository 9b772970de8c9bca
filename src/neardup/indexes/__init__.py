"""What indexes of documents and of passages have in common."""
