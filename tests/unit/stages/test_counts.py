"""Documents counted by groups, against counting them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.stages import selection
from neardup.stages.selection import FileRanges, count_documents

NAMES = ["a", "b", "c", "d"]


def files_of(numbers, names=NAMES):
    """Return the files of documents, whose numbers ascend; -1 is none."""
    return FileRanges(names, np.searchsorted(numbers, np.arange(len(names) + 1)))


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.booleans(), st.booleans(), st.booleans())),
    st.integers(1, 6),
)
def test_count_documents(rows, n_listed):
    numbers, is_document, stays, is_such = np.array(sorted(rows), np.int64).reshape(-1, 4).T
    stays = stays.astype(bool) | ~is_document.astype(bool)
    more = {"exact_copies": is_such.astype(bool) & ~stays}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_LISTED", n_listed)
        found = count_documents(files_of(numbers), is_document.astype(bool), stays, more)
    expected = {}
    for place, name in enumerate([*NAMES, None]):
        here = numbers == (place if name else -1)
        each = {
            "documents_in": int((here & (is_document == 1)).sum()),
            "documents_kept": int((here & (is_document == 1) & stays).sum()),
            "documents_removed": int((here & ~stays).sum()),
            "exact_copies": int((here & more["exact_copies"]).sum()),
        }
        if name or each["documents_in"]:
            expected[name] = each
    ranked = sorted(
        expected, key=lambda n: (-expected[n]["documents_removed"], -expected[n]["documents_in"])
    )
    listed = set(ranked[:n_listed])
    assert found["counts"] == [
        {"file": name} | each for name, each in expected.items() if name in listed
    ]
    rest = [each for name, each in expected.items() if name not in listed]
    if not rest:
        assert found["others"] is None
    else:
        sums = {name: sum(each[name] for each in rest) for name in rest[0]}
        assert found["others"] == {"groups": len(rest)} | sums


@pytest.fixture
def files(tmp_path):
    """Two files with copies between them and of a third, one with a bad row, one without rows."""
    (tmp_path / "in").mkdir()
    for name, numbers in {"a": (0, 1, 0), "b": (1, 2, 3, 3), "c": ()}.items():
        lines = "".join(f'{{"text": "some words of text {i}"}}\n' for i in numbers)
        (tmp_path / f"in/{name}.jsonl").write_text(lines)
    with (tmp_path / "in/a.jsonl").open("a") as file:
        file.write("{}\n")
    (tmp_path / "a.jsonl").write_text('{"text": "some words of text 2"}\n')
    return tmp_path


def row(file, documents_in, kept, removed, against, copies):
    return {
        "file": file,
        "documents_in": documents_in,
        "documents_kept": kept,
        "documents_removed": removed,
        "removed_for_against": against,
        "exact_copies": copies,
    }


def test_summary__by_file(files):
    result = neardup.deduplicate(
        files / "in", against=files / "a.jsonl", read=neardup.ReadOptions(on_error="skip")
    )
    assert result.summary["by_file"] == {
        "counts": [
            row("a.jsonl", 3, 2, 1, 0, 1),
            row("b.jsonl", 4, 1, 3, 1, 3),
            row("c.jsonl", 0, 0, 0, 0, 0),
        ],
        "others": None,
    }
