"""From text to tokens to shingles."""
