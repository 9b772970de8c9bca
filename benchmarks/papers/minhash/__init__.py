"""Min-hashes and their bands, after an article on near-duplicates: docs/papers/minhash.md."""
