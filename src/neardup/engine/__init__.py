"""Where the rows of a job are, and who works on them: threads, or executors of Spark."""
