"""How many look-ups a second the service answers."""
