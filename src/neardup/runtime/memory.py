"""How much memory a process has taken."""

from __future__ import annotations

import sys


def peak_memory_bytes() -> int | None:
    """Return the largest resident memory of this process so far; None where it is not known."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
