"""Exact joins: beside other libraries, from file to file, their filters and their growth."""
