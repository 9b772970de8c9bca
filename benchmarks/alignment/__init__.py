"""How well passages are found in editions of which it is known what goes with what."""
