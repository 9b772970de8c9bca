"""Quality of shared passages in editions with known alignments."""
