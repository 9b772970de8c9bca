"""Executors of Spark: their tasks, what these read, keep and write, and the session."""
