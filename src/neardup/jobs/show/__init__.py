"""Examples of what a job has found: pairs of texts, to be looked at one by one."""
