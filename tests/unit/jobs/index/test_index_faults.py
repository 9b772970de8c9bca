"""A disk that fails, or a kill, at any call: an index is as before the change, or as after."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neardup import DocumentIndex, ReadError, WriteError
from tests.calls import grouped
from tests.document_indexes import (
    OPTIONS,
    build,
    change,
    expected_of,
    found_in,
    small_pieces,
    state,
    tell,
)
from tests.faults import in_child
from tests.indexes import check_names
from tests.system_calls import IS_SUPPORTED, UntraceableError, run_until

ROOT = Path(__file__).parents[4]
# Every so many calls; by hand, all of them.
STEP = int(os.environ.get("NEARDUP_TEST_CALLS", "9"))


def try_calls(folder: Path, step: int, most_pending: int, how: str) -> int:
    """Stop the change of a step at each of its calls in turn; return the number of calls."""
    good, target, told = folder / "good", folder / "index", folder / "told"

    def work() -> int:
        known = state(step).copy()
        with small_pieces(most_pending=most_pending):
            try:
                index = DocumentIndex.open(target)
            except ReadError:
                # A database that nobody has open needs room for the memory that readers share.
                return 0
            try:
                change(step, index, known)
            except WriteError:
                if step % 5 == 1:
                    # What waits for a commit can be committed when there is room again.
                    n_waiting = len(index) - len(DocumentIndex.open(target))
                    assert how == "full" or index.commit() == n_waiting
        return 0

    def prepare() -> None:
        with small_pieces():
            build(good, step)

    in_child(prepare)
    shutil.copytree(good, target)
    n_calls = len(run_until(work, target).calls)
    for position in range(step % STEP, n_calls, STEP):
        shutil.rmtree(target)
        shutil.copytree(good, target)
        trial = run_until(work, target, position, how)
        assert trial.code == (-9 if how == "kill" else 0), trial.calls[position]
        tell(told, step)
        in_child(lambda: go_on(target, told))
    return n_calls


def go_on(folder: Path, told: Path) -> None:
    """See that the index is as some change left it, then make the next one."""
    step = int(told.read_text())
    index = DocumentIndex.open(folder)
    found = found_in(index)
    # Compaction changes nothing that can be seen.
    steps = [each for each in (step + 1, step) if expected_of(state(each)) == found]
    assert steps, (step, found)
    assert index.info()["documents"] == len(state(steps[0]).ids())
    with small_pieces():
        change(steps[0], index, state(steps[0]).copy())
    step = steps[0] + 1
    assert found_in(index) == found_in(DocumentIndex.open(folder)) == expected_of(state(step))
    # The next change that is more than an insertion leaves nothing of a killed process.
    index.compact()
    index.insert("a last one", "a b c")
    index.commit()
    index.remove(["a last one"])
    check_names(folder)
    tell(told, step)


@pytest.mark.damage
@pytest.mark.skipif(not IS_SUPPORTED, reason="needs seccomp and ptrace")
@pytest.mark.parametrize("how", ["kill", "fail", "full"])
@pytest.mark.parametrize(("step", "most_pending"), [(6, 0), (6, 8), (7, 8), (8, 8), (9, 8)])
def test_any_call(tmp_path, step, most_pending, how):
    """Insertions into a segment and into the database, a removal, an addition, a compaction."""
    command = [sys.executable, "-m", "tests.unit.jobs.index.test_index_faults"]
    arguments = [str(tmp_path), str(step), str(most_pending), how]
    result = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode == 77:
        pytest.skip("the system lets no process look at another one's calls")
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout) > 5


def test_change__of_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    index = DocumentIndex.create(tmp_path / "index", **grouped(**OPTIONS))
    index.insert("a", "a b")
    index.commit()
    index._handle.database.close()
    path = tmp_path / "index" / "index.sqlite"
    monkeypatch.setattr("os.access", lambda *_: False)
    reader = DocumentIndex.open(tmp_path / "index")
    assert reader.query("a b")[0].id == "a"
    assert [each.name for each in path.parent.iterdir()] == ["index.sqlite"]


if __name__ == "__main__":
    try:
        folder, step, most_pending, how = sys.argv[1:]
        with small_pieces():
            build(Path(folder) / "first", 6)
        print(try_calls(Path(folder), int(step), int(most_pending), how))  # noqa: T201
    except UntraceableError:
        sys.exit(77)
