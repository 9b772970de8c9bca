"""Execution of work: threads, memory, progress, and crash-safe files."""
