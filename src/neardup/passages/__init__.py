"""Find similar passages of long texts by windows of min-hashes."""
