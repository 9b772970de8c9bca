from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.passages.document_blocks import least_run, runs_of
from neardup.tables import TokenLists, TokenSpans
from tests.each import each_of
from tests.examples import examples

LISTS = st.lists(st.lists(st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]), max_size=9), max_size=4)


def token_lists(lists: list[list[int]]) -> TokenLists:
    values = np.array([value for tokens in lists for value in tokens], np.uint64)
    return TokenLists(values, np.cumsum([0, *map(len, lists)], dtype=np.int64))


def expected(texts: list[list[int]], templates: list[list[int]], length: int) -> list[list[bool]]:
    """Compare every part of every text with every part of every template."""
    parts = {
        tuple(template[i : i + size])
        for template in templates
        for size in [min(length, len(template))]
        for i in range(len(template) - size + 1)
        if size
    }
    marks = [[False] * len(text) for text in texts]
    for text, mark in zip(texts, marks, strict=True):
        for part in parts:
            for i in range(len(text) - len(part) + 1):
                if tuple(text[i : i + len(part)]) == part:
                    mark[i : i + len(part)] = [True] * len(part)
    return marks


@examples(300)
@given(texts=LISTS, templates=st.lists(LISTS, max_size=2), length=st.integers(1, 5))
def test_without_runs__as_by_comparing_all(texts, templates, length):
    runs = runs_of(map(token_lists, templates), length)
    marks = expected(texts, [each for lists in templates for each in lists], length)
    tokens = token_lists(texts)
    places = np.arange(len(tokens.values))
    left, spans = runs.without_runs(tokens, TokenSpans(3 * places, 3 * places + 2))
    assert [
        left.values[start:stop].tolist()
        for start, stop in zip(left.offsets[:-1], left.offsets[1:], strict=True)
    ] == [
        [value for value, is_out in zip(text, mark, strict=True) if not is_out]
        for text, mark in zip(texts, marks, strict=True)
    ]
    assert tokens.values[spans.starts // 3].tolist() == left.values.tolist()
    assert (spans.stops - spans.starts == 2).all()


@each_of(("min_tokens", "length"), [(1, 4), (20, 4), (50, 5), (100, 10)])
def test_least_run(min_tokens, length):
    assert least_run(min_tokens) == length
