"""Kinds of option values, and the options of each job."""
