"""Files of all formats, damaged in one place: an error, or what the file says; nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.mutated_files import whole_files

N_TRIALS = int(os.environ.get("NEARDUP_TEST_MUTATIONS", "280"))


def ended(*arguments: str | int) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Run trials in processes of their own; the one of this test has threads, and does not fork."""
    command = [sys.executable, "-m", "tests.mutated_files", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    return found["counts"], found["defects"]


@pytest.mark.damage
def test_mutated_files__all_formats():
    counts, defects = ended(N_TRIALS, os.environ.get("NEARDUP_TEST_SEED", "1"))
    assert not defects
    assert set(counts) == set(whole_files())
    total = sum(map(Counter, counts.values()), Counter())
    assert sum(total.values()) == N_TRIALS
    # Trials that all end in the same way would show nothing.
    assert min(total["error"], total["same"], total["different"]) > N_TRIALS // 20


@pytest.mark.damage
def test_mutated_files__statistics_of_a_column_in_parquet():
    # Of these, one ends a process in which Arrow is asked for the metadata of a column.
    _, defects = ended(24, 1, "checked.parquet")
    assert not defects
