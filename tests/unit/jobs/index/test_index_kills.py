"""A process that changes an index of documents is killed: nothing is lost that was committed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.document_indexes import build, change_on, state, tell
from tests.faults import in_child, kill_writers
from tests.unit.jobs.index.test_index_faults import go_on

ROOT = Path(__file__).parents[4]
KILLS = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "2")) * 5


def kill_at_random(folder: Path, n_kills: int) -> None:
    """Kill writers at random moments; this process forks, and only Arrow has threads in it."""
    load_all()
    index, told = folder / "index", folder / "told"
    tell(told, 0)
    in_child(lambda: build(index, 0))
    kill_writers(
        n_kills,
        lambda: change_on(index, told),
        lambda: go_on(index, told),
        # Known here, it is known in all children.
        prepare=lambda: state(int(told.read_text()) + 20),
        pace=3,
    )
    print(told.read_text())  # noqa: T201


def load_all() -> None:
    """Load what the children need, so that they need not load it again and again."""
    import tempfile

    import pyarrow.compute  # noqa: F401

    with tempfile.TemporaryDirectory() as place:
        build(Path(place) / "index", 6)


def run(folder: Path, *arguments: object) -> int:
    module = "tests.unit.jobs.index.test_index_kills"
    command = [sys.executable, "-m", module, str(folder), *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    return int(result.stdout)


@KILLS
@pytest.mark.kills
def test_killed__at_any_moment(tmp_path):
    # More than the one after each kill that shows that the index still works.
    assert run(tmp_path, N_KILLS) > N_KILLS


if __name__ == "__main__":
    kill_at_random(Path(sys.argv[1]), int(sys.argv[2]))
