"""Precision and recall of thresholds on labelled records."""
