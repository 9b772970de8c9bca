"""How work is run: blocks over threads, progress and clock, memory."""
