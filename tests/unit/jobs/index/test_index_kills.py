"""A process that changes an index of documents is killed: nothing is lost that was committed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.document_indexes import (
    build,
    change,
    change_on,
    check_names,
    expected_of,
    found_in,
    small_pieces,
    state,
    tell,
)
from tests.faults import at_calls, in_child, kill_at, kill_writers

ROOT = Path(__file__).parents[4]
KILLS = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
STEP = int(os.environ.get("NEARDUP_TEST_CALLS", "20"))
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


def kill_everywhere(folder: Path, step: int, most_in_tail: int) -> None:
    """Kill a writer that makes the change of a step before each of its calls in turn."""
    import shutil

    def change_until(index: Path, position: int | None) -> int:
        from neardup import DocumentIndex

        pieces = small_pieces(most_in_tail=most_in_tail)
        with pieces, at_calls(kill_at(position)) as calls:
            change(step, DocumentIndex.open(index), state(step).copy())
        return len(calls)

    load_all()
    good, target, told = folder / "good", folder / "index", folder / "told"

    def prepare() -> None:
        with small_pieces(), at_calls(lambda _: None):
            build(good, step)
        shutil.copytree(good, target)
        told.write_text(str(change_until(target, None)))

    in_child(prepare)
    n_calls = int(told.read_text())
    # Every so many calls; by hand, all of them.
    for position in range(step % STEP, n_calls, STEP):
        shutil.rmtree(target)
        shutil.copytree(good, target)
        assert in_child(lambda at=position: change_until(target, at), signal.SIGKILL)
        tell(told, step)
        in_child(lambda: go_on(target, told))
    print(n_calls)  # noqa: T201


def go_on(folder: Path, told: Path) -> None:
    """See that the index is as some change left it, then make the next one."""
    from neardup import DocumentIndex

    step = int(told.read_text())
    index = DocumentIndex.open(folder)
    index.info()
    found = found_in(index)
    # Compaction changes nothing that can be seen.
    steps = [each for each in (step + 1, step) if expected_of(state(each)) == found]
    assert steps, (step, found)
    assert index.info()["documents"] == len(state(steps[0]).ids())
    with small_pieces():
        change(steps[0], index, state(steps[0]).copy())
    step = steps[0] + 1
    assert found_in(index) == found_in(DocumentIndex.open(folder)) == expected_of(state(step))
    # Nothing is left of the killed process but the lock that nobody holds.
    check_names(folder)
    tell(told, step)


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
    assert run(tmp_path, "random", N_KILLS) > N_KILLS


@KILLS
@pytest.mark.kills
@pytest.mark.parametrize(
    ("step", "most_in_tail", "n_calls"), [(6, 0, 20), (6, 8, 10), (7, 8, 20), (8, 8, 20)]
)
def test_killed__before_any_call(tmp_path, step, most_in_tail, n_calls):
    """An insertion with its commit and a merge, or into a tail, a removal, and an addition."""
    assert run(tmp_path, "everywhere", step, most_in_tail) > n_calls


if __name__ == "__main__":
    works = {"random": kill_at_random, "everywhere": kill_everywhere}
    works[sys.argv[2]](Path(sys.argv[1]), *map(int, sys.argv[3:]))
