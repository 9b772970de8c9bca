from neardup.kernels._compile import COMPILED_AHEAD

# Kernels of benchmarks call helpers of neardup's, which are plain Python where kernels are compiled
# ahead. The gate runs these tests compiled on call.
collect_ignore = [] if COMPILED_AHEAD is None else ["test_partitions.py"]
