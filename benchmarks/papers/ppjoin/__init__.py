"""All-Pairs, PPJoin and PPJoin+, Xiao et al. (2008): docs/papers/ppjoin.md."""

import os

# Kernels of its own call helpers of neardup's, so that all are compiled as they are called.
os.environ["NEARDUP_JIT"] = "1"
