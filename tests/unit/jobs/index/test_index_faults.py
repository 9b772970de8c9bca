"""A disk that is full, at whatever call: an index of documents is as before, or as after."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from neardup import DocumentIndex, WriteError
from tests.document_indexes import (
    OPTIONS,
    build,
    change,
    check_names,
    expected_of,
    found_in,
    small_pieces,
    state,
)
from tests.faults import at_calls, full_from
from tests.indexes import tree

# One of each kind: an addition, insertions with a commit, a removal, an addition, a compaction.
STEPS = [5, 6, 7, 8, 9]
# Every so many calls; by hand, all of them.
STEP = int(os.environ.get("NEARDUP_TEST_CALLS", "12"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make an index as it is before a step."""
    places: dict[int, Path] = {}

    def before(step: int) -> Path:
        if step not in places:
            places[step] = tmp_path_factory.mktemp("index") / "index"
            with small_pieces(), at_calls(lambda _: None):
                build(places[step], step)
        return places[step]

    return before


@pytest.mark.damage
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("is_once", [True, False])
def test_full_disk__at_any_call(made, tmp_path, step, is_once):
    folder = tmp_path / "index"
    expected = [expected_of(state(step)), expected_of(state(step + 1))]
    with small_pieces():
        shutil.copytree(made(step), folder)
        with at_calls(lambda _: None) as calls:
            change(step, DocumentIndex.open(folder), state(step).copy())
        n_calls, messages = len(calls), []
        for position in range(0, n_calls, STEP if is_once else 7 * STEP):
            shutil.rmtree(folder)
            shutil.copytree(made(step), folder)
            index = DocumentIndex.open(folder)
            with at_calls(full_from(position, position + 1 if is_once else None, errno.ENOSPC)):
                try:
                    change(step, index, state(step).copy())
                except WriteError as error:
                    messages.append(str(error))
            # What waits for a commit can be committed when there is room again.
            with at_calls(lambda _: None):
                n_waiting = len(index) - len(DocumentIndex.open(folder))
                assert index.commit() == n_waiting
            found = found_in(DocumentIndex.open(folder))
            assert found in expected
            assert found == expected[1] or step % 5 != 1 or position < 4
            assert found_in(index) == found
            DocumentIndex.open(folder).info()
            check_after(folder)
    # The text that names the writer may fail, and the removal of what is no longer needed.
    assert all("No space left on device" in message for message in messages)
    assert len(messages) >= n_calls // ((4 if is_once else 28) * STEP)


def check_after(folder):
    """The next writer finds nothing in its way, and leaves nothing that does not belong there."""
    with at_calls(lambda _: None), DocumentIndex.open(folder) as index:
        n_before = len(index)
        index.insert("the next", "a b c")
    assert len(DocumentIndex.open(folder)) == n_before + 1
    check_names(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs users")
def test_change__of_a_folder_that_cannot_be_written(made, tmp_path):
    folder = tmp_path / "index"
    shutil.copytree(made(5), folder)
    before = tree(folder)
    index = DocumentIndex.open(folder)
    rows = [{"id": "x", "text": "a b"}]

    def refuse(_):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    changes = [
        lambda: index.add(rows, id_column="id"),
        lambda: index.insert("x", "a b"),
        lambda: index.insert_if_new("x", "a b"),
        lambda: index.remove(["0"]),
        index.compact,
    ]
    for make_change in changes:
        with at_calls(refuse), pytest.raises(WriteError, match="Permission denied"):
            make_change()
        assert tree(folder) == before
        assert found_in(index) == expected_of(state(5))


@pytest.mark.parametrize(("most_in_tail", "n_calls"), [(0, 20), (256, 8)])
def test_commit__again_after_a_failure(tmp_path, monkeypatch, most_in_tail, n_calls):
    """Nothing is lost, and nothing is there twice."""
    monkeypatch.setattr("neardup.documents.additions.MOST_IN_TAIL", most_in_tail)
    folder = tmp_path / "index"
    index = DocumentIndex.create(folder, **OPTIONS)
    index.insert("a", "one two three")
    for position in range(1000):
        with at_calls(full_from(position, None, errno.ENOSPC)):
            try:
                index.commit()
            except WriteError:
                continue
        break
    # The last failures come when it is stored already.
    assert position > n_calls
    assert [row["id"] for row in DocumentIndex.open(folder).documents()] == ["a"]
    index.insert("b", "one two three")
    assert [match.id for match in index.query("one two three")] == ["a", "b"]
    assert index.commit() == 1
    check_names(folder)
