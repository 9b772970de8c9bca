"""Pages of passages that documents share: who has what from whom, and the texts side by side."""
