from __future__ import annotations

import random

from neardup.passages import repeats as passages
from tests.each import each_of
from tests.oracles import repeats as oracle
from tests.repeats import found_rows, removed_by


def random_documents(generator):
    """Documents put together from few pieces of few tokens."""
    n_kinds = generator.choice([1, 2, 3, 20])
    pieces = [
        generator.choices(range(n_kinds), k=generator.randint(1, 12))
        for _ in range(generator.randint(1, 4))
    ]
    return [
        [token for piece in generator.choices(pieces, k=generator.randrange(6)) for token in piece]
        for _ in range(generator.randrange(6))
    ]


def check(documents, order, min_tokens, **options):
    rows = found_rows(documents, min_tokens, order, **options)
    expected = oracle.removed_tokens(documents, order, min_tokens, **options)
    assert removed_by(rows, len(documents)) == expected


def test_remove_repeats__more_room(monkeypatch):
    """Tables and rows are given more room until it suffices, also in the midst of a document."""
    monkeypatch.setattr(passages, "_LEAST_ROOM", 2)
    monkeypatch.setattr(passages, "_SLOTS", 0)
    monkeypatch.setattr(passages, "_AT_A_TIME", 3)
    generator = random.Random(1)
    for _ in range(60):
        documents = random_documents(generator)
        check(documents, list(range(len(documents))), generator.randint(1, 6))


@each_of(
    ("documents", "min_tokens", "expected"),
    [
        ([], 3, []),
        ([[]], 3, []),
        ([[1, 2, 3]], 3, []),
        ([[1, 2], [1, 2]], 3, []),
        ([[1, 2, 3], [], [1, 2, 3]], 3, [(2, 0, 3, 0, 0, 3)]),
        # As long as can be, on both sides.
        ([[9, 1, 2, 3, 4, 8], [7, 1, 2, 3, 4, 6]], 3, [(1, 1, 5, 0, 1, 5)]),
        # Twice in one document.
        ([[1, 2, 3, 4, 1, 2, 3]], 3, [(0, 4, 7, 0, 0, 3)]),
        # Periodic: the first three stay, and rows are as long as they can be.
        ([[1] * 3], 3, []),
        ([[1] * 5], 3, []),
        ([[1] * 8], 3, [(0, 3, 6, 0, 0, 3), (0, 6, 8, 0, 1, 3)]),
        # Equal runs that overlap: 2 3 4 is in the first, 3 4 5 in the second document.
        (
            [[1, 2, 3, 4], [3, 4, 5, 9], [0, 2, 3, 4, 5, 0]],
            3,
            [(2, 1, 4, 0, 1, 4), (2, 4, 5, 1, 2, 3)],
        ),
        # 1 5 6 is across the joint once 2 3 4 has gone.
        (
            [[2, 3, 4], [1, 5, 6], [1, 2, 3, 4, 5, 6]],
            3,
            [(2, 0, 1, 1, 0, 1), (2, 1, 4, 0, 0, 3), (2, 4, 6, 1, 1, 3)],
        ),
        # A joint in what stays.
        (
            [[2, 3, 4], [1, 2, 3, 4, 5, 6], [1, 5, 6]],
            3,
            [(1, 1, 4, 0, 0, 3), (2, 0, 1, 1, 0, 1), (2, 1, 3, 1, 4, 6)],
        ),
        # 7 8 9 goes for the first, then 9 6 5 across the joint: the row names what stays for 9.
        (
            [[9, 6, 5], [7, 8, 9, 6, 7, 8, 9, 5]],
            3,
            [(1, 2, 4, 0, 0, 2), (1, 4, 6, 1, 0, 2), (1, 6, 7, 0, 0, 1), (1, 7, 8, 0, 2, 3)],
        ),
    ],
)
def test_remove_repeats__examples(documents, min_tokens, expected):
    assert found_rows(documents, min_tokens) == expected
    check(documents, list(range(len(documents))), min_tokens)


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


def test_remove_repeats__first_of_order_stays():
    documents = [[1, 2, 3, 4], [1, 2, 3, 4]]
    assert found_rows(documents, 3, [1, 0]) == [(0, 0, 4, 1, 0, 4)]
    assert found_rows(documents, 3, [0]) == []
