"""Write results atomically: a crash leaves old or new output."""
