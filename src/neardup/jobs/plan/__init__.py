"""What a job would take and find: a forecast from a sample."""
