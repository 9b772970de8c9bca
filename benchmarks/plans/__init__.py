"""What plans tell of jobs, beside what these take."""
