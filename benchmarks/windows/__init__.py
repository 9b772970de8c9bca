"""Every sub-text of one text put into windows, beside AllAlign."""

import os

# Kernels of its own call helpers of neardup's, so that all are compiled as they are called.
os.environ["NEARDUP_JIT"] = "1"
