"""Everything about two texts."""
