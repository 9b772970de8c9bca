"""Execution engines: threads of this process, or executors of Spark."""
