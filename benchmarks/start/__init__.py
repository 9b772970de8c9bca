"""What a short command waits for."""
