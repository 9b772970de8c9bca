"""Short summaries of sets from which their similarity can be estimated."""
