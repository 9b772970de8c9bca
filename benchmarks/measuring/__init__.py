"""What all rooms measure with: processes, clocks, environments, results and their tables."""
