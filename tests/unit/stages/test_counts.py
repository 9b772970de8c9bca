"""Documents counted by groups, against counting them one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.stages import selection
from neardup.stages.selection import FileRanges, count_documents, count_pairs

NAMES = ["a", "b", "c", "d"]


def files_of(numbers, names=NAMES):
    """Return the files of documents, whose numbers ascend; -1 is none."""
    return FileRanges(names, np.searchsorted(numbers, np.arange(len(names) + 1)))


def numbers_up_to(most, **sizes):
    return st.lists(st.integers(-1, most), **sizes).map(sorted)


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


@given(
    numbers_up_to(3, min_size=1),
    numbers_up_to(1),
    st.data(),
    st.integers(1, 30),
)
def test_count_pairs(own, other, data, n_listed):
    n_own, n_other = len(own), len(other)
    gone = data.draw(st.lists(st.integers(0, n_own - 1), unique=True).map(sorted))
    keepers = [data.draw(st.integers(0, n_own + n_other - 1)) for _ in gone]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_LISTED", n_listed)
        pairs = np.array(gone, int), np.array(keepers, int)
        found = count_pairs(files_of(own), files_of(other, ["x", "a"]), *pairs)

    def named(number, names):
        return names[number] if number >= 0 else None

    expected = Counter(
        (named(own[document], NAMES), named(other[keeper], ["x", "a"]), "against")
        if keeper < n_other
        else (named(own[document], NAMES), named(own[keeper - n_other], NAMES), "input")
        for document, keeper in zip(gone, keepers, strict=True)
    )
    listed = {
        (row["file"], row["kept_file"], row["kept_in"]): row["documents_removed"]
        for row in found["pairs"]
    }
    assert len(listed) == len(found["pairs"]) == min(n_listed, len(expected))
    assert all(expected[key] == count for key, count in listed.items())
    sizes = list(listed.values())
    assert sizes == sorted(expected.values(), reverse=True)[:n_listed]
    if len(expected) <= n_listed:
        assert found["other_pairs"] is None
    else:
        rest = {"groups": len(expected) - n_listed, "documents_removed": len(gone) - sum(sizes)}
        assert found["other_pairs"] == rest


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


def pair(file, kept_file, kept_in, removed):
    return {
        "file": file,
        "kept_file": kept_file,
        "kept_in": kept_in,
        "documents_removed": removed,
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
        "pairs": [
            pair("a.jsonl", "a.jsonl", "input", 1),
            pair("b.jsonl", "a.jsonl", "against", 1),
            pair("b.jsonl", "a.jsonl", "input", 1),
            pair("b.jsonl", "b.jsonl", "input", 1),
        ],
        "other_pairs": None,
    }


@pytest.mark.parametrize("method", ["minhash", "exact"])
def test_summary__by_file_against_an_index(files, method):
    with neardup.DocumentIndex.create(files / "index") as index:
        index.add(files / "a.jsonl")
        result = neardup.deduplicate(
            files / "in", against=index, method=method, read=neardup.ReadOptions(on_error="skip")
        )
    pairs = result.summary["by_file"]["pairs"]
    assert pair("b.jsonl", None, "against", 1) in pairs
    assert sum(each["documents_removed"] for each in pairs) == len(result.removed)


def test_summary__by_file_of_pairs(files):
    (files / "in/a.jsonl").write_text((files / "in/a.jsonl").read_text().replace("{}\n", ""))
    pairs = neardup.find_pairs(files / "in", threshold=1, text=neardup.TextOptions(ngram=1))
    chosen = neardup.choose(pairs, files / "in").summary["by_file"]
    compared = neardup.deduplicate(
        files / "in", threshold=1, text=neardup.TextOptions(ngram=1)
    ).summary["by_file"]
    for each in compared["counts"]:
        del each["exact_copies"]
    assert chosen == compared
