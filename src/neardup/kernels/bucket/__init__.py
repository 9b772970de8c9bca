"""Documents that share a key: their pairs, their components, and who of them stays."""
