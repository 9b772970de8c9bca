"""Executors of Spark: tasks, reading, storage, writing, and the session."""
