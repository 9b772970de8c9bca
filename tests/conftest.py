"""What all tests share: how long Hypothesis searches, and what need not be looked at."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from tests.examples import THOROUGH

settings.register_profile(
    "thorough", deadline=None, max_examples=THOROUGH, derandomize="CI" in os.environ
)
# The same examples each time: who runs the tests to see whether they pass is not to find a new one.
SAME = settings(settings.get_profile("thorough"), derandomize=True)
settings.register_profile("gate", SAME, max_examples=THOROUGH // 3)
settings.register_profile("quick", SAME, max_examples=THOROUGH // 10)
# Other examples for each `--hypothesis-seed`, in CI, too.
settings.register_profile("drawn", deadline=None, max_examples=THOROUGH // 3, derandomize=False)
settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for examples in docstrings of the package only, not in those of tests."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule)]


def pytest_collection_finish() -> None:
    """Let the garbage collector pass by what thousands of tests are, which stays."""
    gc.collect()
    gc.freeze()
