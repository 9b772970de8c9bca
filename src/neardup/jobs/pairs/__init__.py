"""All pairs of similar documents, within one collection or between two."""
