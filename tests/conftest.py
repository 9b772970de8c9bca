"""What all tests share: how long Hypothesis searches, and who compiles which kernels."""

from __future__ import annotations

import os
import pkgutil
from importlib import import_module

from hypothesis import settings

import neardup.kernels
from tests.examples import THOROUGH

settings.register_profile(
    "thorough", deadline=None, max_examples=THOROUGH, derandomize="CI" in os.environ
)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=THOROUGH // 3)
settings.load_profile("quick")


def pytest_configure() -> None:
    """Load the kernels from both ends, so that two workers compile half of them each.

    Kernels are compiled where they are first imported and kept on disk; workers that import the
    same modules in the same order would all compile all of them.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return
    names = sorted(module.name for module in pkgutil.iter_modules(neardup.kernels.__path__))
    if int(worker.removeprefix("gw")) % 2:
        names.reverse()
    for name in names:
        import_module(f"neardup.kernels.{name}")
