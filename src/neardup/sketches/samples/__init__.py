"""What the kinds smallest and modulo share: samples of sets that are of the same elements."""
