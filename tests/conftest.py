"""What all tests share: how long Hypothesis searches."""

from __future__ import annotations

import os

from hypothesis import settings

from tests.examples import THOROUGH

settings.register_profile(
    "thorough", deadline=None, max_examples=THOROUGH, derandomize="CI" in os.environ
)
# The same examples each time: who runs the tests to see whether they pass is not to find a new one.
settings.register_profile(
    "quick", settings.get_profile("thorough"), max_examples=THOROUGH // 10, derandomize=True
)
settings.load_profile("quick")
