"""Spark: its executors read, sign and decide; it shuffles and schedules, and no more.

What a task does is what a thread does, by the same functions. Rows travel in blocks of Arrow, each
to a partition that we number ourselves: a key never decides by its hash, and nothing depends on the
order in which Spark brings rows, so that a task that is run again has the same result.
"""
