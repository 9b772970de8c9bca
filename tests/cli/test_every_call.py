"""Every command that writes, stopped at system calls: nothing is lost, nothing in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system_calls import IS_SUPPORTED

# All calls, ten thousand trials, take an hour of one core: ``all``.
N_CALLS = os.environ.get("NEARDUP_TEST_CALLS", "3")


@pytest.mark.kills
@pytest.mark.skipif(not IS_SUPPORTED, reason="needs Linux on x86-64")
def test_killed_or_failed__at_any_call():
    sample = [] if N_CALLS == "all" else ["--sample", N_CALLS]
    run = subprocess.run(
        [sys.executable, "-m", "tests.every_call", *sample],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode == 3:
        pytest.skip("this system lets no process look at another one's calls")
    assert run.returncode == 0, run.stdout + run.stderr
    # Each command is stopped, and each way of stopping is tried.
    last = run.stdout.splitlines()[-1]
    assert all(f"{way}: " in last for way in ("kill", "fail", "full")), run.stdout
