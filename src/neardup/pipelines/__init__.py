"""The jobs: stages in order, from files to verified output."""
