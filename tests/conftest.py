"""What all tests share: how long Hypothesis searches, what is loaded, and what need not be."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from tests.examples import THOROUGH

TESTS = Path(__file__).parent
# Folders all of whose tests have the mark of this name.
_MARKED = {"browser", "spark", "statistics", "wheel"}

# No verdict depends on how fast a machine is.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "thorough", PATIENT, max_examples=THOROUGH, derandomize="CI" in os.environ
)
# The same examples each time: who runs the tests to see whether they pass is not to find a new one.
SAME = settings(settings.get_profile("thorough"), derandomize=True)
settings.register_profile("gate", SAME, max_examples=THOROUGH // 3)
settings.register_profile("quick", SAME, max_examples=THOROUGH // 20)
# Other examples for each `--hypothesis-seed`, in CI, too.
settings.register_profile("drawn", PATIENT, max_examples=THOROUGH // 3, derandomize=False)
settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Load no folder whose tests all have a mark that ``-m`` leaves out."""
    if collection_path.parent != TESTS or collection_path.name not in _MARKED:
        return None
    without = re.fullmatch(
        r"(\([\w ]+\) and )?not \((?P<marks>[\w ]+)\)", config.getoption("markexpr")
    )
    return True if without and collection_path.name in without["marks"].split(" or ") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each of several workers load another share of all tests before it loads the rest.

    What pytest makes of the first of them that loads a file, which takes the longest part of
    loading it, is on the disk for the others. Together they would each do all of it.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    # Some benchmarks have kernels compiled as they are called, where none have been loaded before.
    import_module("neardup.kernels._compile")
    number, n_workers = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for path in sorted(TESTS.rglob("test_*.py"))[number::n_workers]:
        place = path.relative_to(TESTS.parent).with_suffix("")
        if place.parts[1] not in _MARKED:
            # What cannot be loaded is told where it is collected.
            with suppress(Exception, pytest.skip.Exception):
                import_module(".".join(place.parts))


@pytest.fixture(scope="session", autouse=True)
def _nothing_waits_for_the_disk() -> Iterator[None]:
    """Let ``os.fsync`` only look whether the file is open: no test here takes the power away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda file: os.fstat(file) and None)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for examples in docstrings of the package only, not in those of tests."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule)]


def pytest_collection_finish() -> None:
    """Let the garbage collector pass by what thousands of tests are, which stays."""
    gc.collect()
    gc.freeze()
