"""How well thresholds find records that people have called the same."""
