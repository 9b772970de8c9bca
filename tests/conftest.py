"""What all tests share: where the oracles are, and how long Hypothesis searches."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

sys.path.append(str(Path(__file__).parent))

settings.register_profile(
    "neardup", deadline=None, max_examples=60, derandomize="CI" in os.environ
)
settings.load_profile("neardup")
