"""The sections of the benchmarks: each module has ``run``, which measures, and ``table``."""
