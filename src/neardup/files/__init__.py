"""Read rows from files, URLs and memory, and write them back as they were."""
