"""What all tests share: how long Hypothesis searches."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("neardup", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("neardup")
