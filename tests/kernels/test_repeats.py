from __future__ import annotations

from neardup.passages import repeats as passages
from tests.oracles import repeats as oracle
from tests.repeats import found_rows, removed_by


def check(documents, order, min_tokens, **options):
    rows = found_rows(documents, min_tokens, order, **options)
    expected = oracle.removed_tokens(documents, order, min_tokens, **options)
    assert removed_by(rows, len(documents)) == expected


def test_remove_repeats__frequent_short_runs():
    """Behind a long chain of samples windows are in the table; every one of them is found."""
    footer = [1, 2, 3, 4]
    documents = [[1000 + n, *footer, 2000 + n, 5] for n in range(30)]
    documents += [[3000 + n, *footer, 2000 + n, 6] for n in range(30)]
    assert found_rows(documents, 5) == [(30 + n, 1, 6, n, 1, 6) for n in range(30)]
    check(documents, list(range(60)), 5)


def test_remove_repeats__table_filled_anew(monkeypatch):
    """Windows in the table outgrow it; what documents before had is still found."""
    monkeypatch.setattr(passages, "_LEAST_ROOM", 2)
    monkeypatch.setattr(passages, "_SLOTS", 0)
    documents = [[1000 + n, 1, 2, 2000 + n, 7] for n in range(40)]
    documents += [[3000 + n, 1, 2, 2000 + n, 6] for n in range(40)]
    assert found_rows(documents, 3) == [(40 + n, 1, 4, n, 1, 4) for n in range(40)]


def test_remove_repeats__each_window_of_a_long_text():
    """More samples than are picked at a time."""
    n = 500
    documents = [list(range(n))] + [[n + i, *range(i, i + 4)] for i in range(n - 3)]
    assert found_rows(documents, 4) == [(i + 1, 1, 5, 0, i, i + 4) for i in range(n - 3)]
