"""Execution of work: threads, memory, progress, and crash-safe files.

``scratch`` has the folders in which outputs are made. ``work`` has the folders that store completed
tasks, so that a stopped run can resume.
"""
