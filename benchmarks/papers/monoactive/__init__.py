"""Windows of texts by MonoActive (2025), MonoAll and AllAlign: docs/papers.md."""

import os
from importlib import import_module

# Kernels of its own call helpers of neardup's, so that all are compiled as they are called. The
# variable is read once, and would reach the processes that a test starts.
_before = os.environ.get("NEARDUP_JIT", "0")
os.environ["NEARDUP_JIT"] = "1"
import_module("neardup.kernels._compile")
os.environ["NEARDUP_JIT"] = _before
