"""Windows of texts by MonoActive (2025), MonoAll and AllAlign: docs/papers.md."""

import os

# Kernels of its own call helpers of neardup's, so that all are compiled as they are called.
os.environ["NEARDUP_JIT"] = "1"
