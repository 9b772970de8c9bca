"""Witnesses beside each other: what stands in a row corresponds."""

from __future__ import annotations

import pytest

from neardup.reports.passages.page import gather_witnesses

WORDS = [" ".join(f"w{k}x{i}" for i in range(60)) for k in range(6)]
SENTENCES = [f"Begins{k} here, {words} and ends{k} with{k} {k}. " for k, words in enumerate(WORDS)]
BASE = "".join(SENTENCES)


def shown(cell) -> str:
    """Write a cell down, what is its own in brackets."""
    return "".join(f"[{p.text}]" if p.is_own else p.text for p in cell.pieces)


@pytest.fixture
def gather(make_passages):
    def of_texts(*texts, files=None):
        rows = [
            (i, 0, len(a), j, 0, len(b), 0.9)
            for i, a in enumerate(texts)
            for j, b in enumerate(texts)
            if i < j
        ]
        return gather_witnesses(make_passages(list(texts), rows, files=files))

    return of_texts


def test_gather_witnesses__rows_correspond(gather):
    second = BASE.replace("with2 2", "with2 two")
    third = BASE.replace(SENTENCES[4], "")
    [group] = gather(BASE, second, third)
    assert group.names == ["d0", "d1", "d2"]
    changed = [row for row in group.rows if row.cells]
    first, other = changed
    assert shown(first.cells[0]) == SENTENCES[2].replace("with2 2", "with2 [2]")
    assert shown(first.cells[1]) == SENTENCES[2].replace("with2 2", "with2 [two]")
    assert shown(first.cells[2]) == SENTENCES[2]
    assert [shown(cell) for cell in other.cells[:2]] == [SENTENCES[4]] * 2
    assert shown(other.cells[2]) == ""


def test_gather_witnesses__what_all_have_is_folded(gather):
    second = BASE.replace("with5 5", "with5 five")
    [group] = gather(BASE, second, BASE)
    folded = group.rows[0]
    assert folded.cells == ()
    assert folded.n_characters == sum(map(len, SENTENCES[:5]))
    assert BASE.startswith(folded.beginning)
    assert "".join(SENTENCES[:5]).endswith(folded.end)
    assert len(group.rows) == 2


def test_gather_witnesses__texts_are_whole(gather):
    """Of a witness that has all of the first one every character is in some cell."""
    second = BASE.replace("Begins3", "A new thing is said here. Begins3")
    [group] = gather(BASE, second, BASE.replace("here", "there"))
    assert all(row.cells for row in group.rows)
    texts = ["".join(p.text for row in group.rows for p in row.cells[k].pieces) for k in (0, 1)]
    assert texts == [BASE, second]


def test_gather_witnesses__chapters_of_one_edition_are_one_column(gather):
    half = len("".join(SENTENCES[:3]))
    parts = BASE[:half], BASE[half:]
    files = ["first.txt", "second.txt", "third.txt", "third.txt"]
    # Halves have nothing to do with each other, but that is for the passages to say.
    [group] = gather(BASE, BASE.replace("and", "or"), *parts, files=files)
    assert group.names == ["d0", "d1", "d2, d3"]
    assert gather(BASE, *parts, files=["first.txt", "second.txt", "second.txt"]) == []
