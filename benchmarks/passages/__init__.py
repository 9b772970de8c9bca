"""An index of passages, built and searched."""
