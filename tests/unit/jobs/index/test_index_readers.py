"""Readers of an index of documents, in threads and processes, while it changes."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from neardup import DocumentIndex, ReadOptions, RunOptions
from neardup.runs.runner import Runner
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
    text_of,
)

ROOT = Path(__file__).parents[4]
# By hand, two minutes.
SECONDS = float(os.environ.get("NEARDUP_TEST_SECONDS", "4"))
N_READERS = 8
TEXT = text_of(0)
N_INSERTED = 50


@pytest.mark.slow
def test_threads__see_each_insertion_at_once(tmp_path):
    """What was there is never gone again, neither before a commit nor in its moment."""
    index = DocumentIndex.create(tmp_path / "index", **grouped(**OPTIONS))
    index.insert("0", TEXT)
    started = finished = 1
    errors: list[BaseException] = []
    n_answers = 0

    def read() -> None:
        nonlocal n_answers
        try:
            n_before = 0
            while finished < N_INSERTED:
                least = max(finished, n_before)
                ids = [match.id for match in index.query(TEXT)]
                assert ids == [str(n) for n in range(len(ids))]
                assert least <= len(ids) <= started, (least, len(ids), started)
                n_before = len(ids)
                assert str(least - 1) in index
                assert len(index) >= n_before
                assert index.documents(least - 1, 1)[0]["id"] == str(least - 1)
                n_answers += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    with small_pieces():
        for number in range(1, N_INSERTED):
            started += 1
            if number % 10 == 5:
                index.add(
                    [{"id": str(number), "text": TEXT}],
                    read=ReadOptions(id_column="id"),
                    run=RunOptions(workers=1),
                )
            else:
                index.insert(str(number), TEXT)
            finished += 1
            if number % 7 == 0:
                index.commit()
                # So that readers look at what is committed before the next change.
                time.sleep(0.01)
            if number % 30 == 0:
                index.compact(run=RunOptions(workers=1))
            if errors:
                break
    finished = N_INSERTED
    for thread in threads:
        thread.join()
    assert not errors, errors[0]
    assert n_answers > 20


def test_threads__that_insert_if_new(tmp_path):
    """Of many that insert the same text at once, one does."""
    index = DocumentIndex.create(tmp_path / "index", **grouped(**OPTIONS))
    barrier = threading.Barrier(4)
    found: list[tuple[str, object]] = []

    def insert(name: str) -> None:
        for number in range(8):
            barrier.wait()
            identifier = f"{name}-{number}"
            found.append((identifier, index.insert_if_new(identifier, text_of(100 + 21 * number))))
            if number % 3 == 0:
                index.commit()

    threads = [threading.Thread(target=insert, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    index.close()
    new = [name for name, keeper in found if keeper is None]
    assert len(new) == len({name.split("-")[1] for name in new}) == 8
    assert all(keeper in new for _, keeper in found if keeper is not None)
    assert sorted(row["id"] for row in DocumentIndex.open(index.folder).documents()) == sorted(new)


def read_until(folder: Path, told: Path, done: Path) -> None:
    """Ask again and again; every answer must be right for a state that was there meanwhile."""
    index = DocumentIndex.open(folder)
    states: dict[int, object] = {}
    n_answers, before = 0, 0
    found_in(index)
    print("ready", flush=True)  # noqa: T201
    while True:
        is_last = done.exists()
        least = int(told.read_text())
        view = index._handle.view(Runner(1))
        with patch.object(index._handle, "view", lambda _, view=view: view):
            found = found_in(index)
        most = int(told.read_text()) + 1
        for step in range(least, most + 1):
            if step not in states:
                states[step] = expected_of(state(step))
        right = [step for step in range(max(least, before), most + 1) if states[step] == found]
        assert right, (least, most, before, found)
        before = right[0]
        # What was opened before stays what it is, whatever becomes of its files.
        with patch.object(index._handle, "view", lambda _, view=view: view):
            assert found_in(index) == found
        n_answers += 1
        if is_last:
            break
    print(n_answers)  # noqa: T201


@pytest.mark.slow
def test_processes__while_a_writer_adds_removes_and_compacts(tmp_path):
    folder, told, done = tmp_path / "index", tmp_path / "told", tmp_path / "done"
    build(folder, 0)
    tell(told, 0)
    module = "tests.unit.jobs.index.test_index_readers"
    command = [sys.executable, "-m", module, *map(str, (folder, told, done))]
    readers = [
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(N_READERS)
    ]
    assert [reader.stdout.readline() for reader in readers] == ["ready\n"] * N_READERS
    end = time.monotonic() + SECONDS
    with small_pieces():
        index = DocumentIndex.open(folder)
        for step in itertools.count():
            change(step, index, state(step).copy())
            tell(told, step + 1)
            if time.monotonic() > end and step >= 10:
                break
            # Readers are many, and so are the steps that one of them may miss.
            time.sleep(0.02)
    done.write_text("")
    results = [reader.communicate(timeout=300) for reader in readers]
    assert [err for _, err in results] == [""] * N_READERS
    assert sum(int(out) for out, _ in results) > 2 * N_READERS


if __name__ == "__main__":
    read_until(*map(Path, sys.argv[1:]))
