from neardup.kernels._compile import COMPILED_AHEAD

# It calls a helper of kernels, which is plain Python where they are compiled ahead. The gate runs
# it compiled on call.
collect_ignore = [] if COMPILED_AHEAD is None else ["test_consistent.py"]
