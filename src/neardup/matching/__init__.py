"""From sketches to candidate pairs to verified pairs."""
