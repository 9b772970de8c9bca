"""Pages that show the result of a job: one Report, and a builder for each kind of result."""
