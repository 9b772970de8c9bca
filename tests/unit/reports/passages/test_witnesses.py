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


def test_gather_witnesses__two_texts_are_no_group(gather):
    assert gather(BASE, BASE) == []


def test_gather_witnesses__without_texts(make_passages):
    rows = [(0, 0, 90, 1, 0, 90, 1.0), (0, 0, 90, 2, 0, 90, 1.0)]
    assert gather_witnesses(make_passages([None] * 3, rows, lengths=[90] * 3)) == []


def test_gather_witnesses__moved_stretches_are_said_to_be(make_passages):
    turned = "".join([*SENTENCES[3:], *SENTENCES[:3]])
    half = len("".join(SENTENCES[:3]))
    rest = len(BASE) - half
    rows = [
        (0, 0, half, 1, rest, len(BASE), 1.0),
        (0, half, len(BASE), 1, 0, rest, 1.0),
        (0, 0, len(BASE), 2, 0, len(BASE), 1.0),
    ]
    [group] = gather_witnesses(make_passages([BASE, turned, BASE], rows))
    marked = [row.cells[1].has_moved for row in group.rows if row.cells]
    assert any(marked)
    for row in group.rows:
        if row.cells:
            assert shown(row.cells[1]).strip() == shown(row.cells[0]).strip()
