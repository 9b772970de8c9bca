from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from neardup.passages import repeats
from tests.oracles import repeats as oracle
from tests.repeats import (
    FOLDED,
    PIECES,
    characters_of,
    collections,
    found_rows,
    lengths,
    removed_by,
    what_stays,
)


def cut(documents, min_tokens, **options):
    """Rows, and what stays of each document."""
    rows = found_rows(documents, min_tokens, **options)
    return rows, what_stays(documents, removed_by(rows, len(documents)))


@given(collections(), lengths, st.integers(1, 4), st.integers(0, 2), st.data())
def test_repeats__as_oracle(documents, min_tokens, min_documents, n_against, data):
    order = data.draw(st.permutations(range(len(documents))))
    n_against = min(n_against, len(documents))
    options = {"min_documents": min_documents, "n_against": n_against}
    rows = found_rows(documents, min_tokens, order, **options)
    expected = oracle.removed_tokens(documents, order, min_tokens, **options)
    assert removed_by(rows, len(documents)) == expected
    assert rows == sorted(rows)


@given(collections(), lengths, st.integers(1, 4), st.integers(0, 2), st.data())
def test_repeats__whole_characters_as_oracle(documents, min_tokens, min_documents, n_against, data):
    """Where characters are several tokens, runs of whole ones go."""
    order = data.draw(st.permutations(range(len(documents))))
    documents, heads = characters_of(documents, PIECES)
    n_against = min(n_against, len(documents))
    options = {"min_documents": min_documents, "n_against": n_against, "heads": heads}
    rows = found_rows(documents, min_tokens, order, **options)
    expected = oracle.removed_tokens(documents, order, min_tokens, **options)
    assert removed_by(rows, len(documents)) == expected
    for document, start, stop, kept, kept_start, kept_stop in rows:
        ends = (document, start), (document, stop), (kept, kept_start), (kept, kept_stop)
        assert all([*heads[number], True][place] for number, place in ends)


@given(collections(), lengths, st.integers(0, 2))
def test_repeats__characters_of_equal_tokens(documents, min_tokens, n_against):
    """Whatever characters equal tokens are of, no run of whole characters stays twice."""
    documents, heads = characters_of(documents, FOLDED)
    n_against = min(n_against, len(documents))
    rows = found_rows(documents, min_tokens, heads=heads, n_against=n_against)
    removed = removed_by(rows, len(documents))
    texts, left = what_stays(documents, removed), what_stays(heads, removed)
    order = list(range(len(texts)))
    expected = oracle.removed_tokens(texts, order, min_tokens, n_against=n_against, heads=left)
    assert not any(expected)
    # What goes out of a text, all of it, is whole characters.
    for gone, own in zip(removed, heads, strict=True):
        assert all((i in gone) == (i - 1 in gone) for i in range(1, len(own)) if not own[i])


@given(collections(), lengths, st.integers(1, 4), st.integers(0, 2))
def test_repeats__equal_tokens_stay(documents, min_tokens, min_documents, n_against):
    n_against = min(n_against, len(documents))
    rows = found_rows(documents, min_tokens, min_documents=min_documents, n_against=n_against)
    removed = removed_by(rows, len(documents))
    for document, start, stop, kept, kept_start, kept_stop in rows:
        assert documents[document][start:stop] == documents[kept][kept_start:kept_stop]
        assert removed[kept].isdisjoint(range(kept_start, kept_stop))
        assert kept <= document
        assert not n_against or kept < n_against <= document


@given(collections(), lengths)
def test_repeats__second_cut_finds_nothing(documents, min_tokens):
    _, texts = cut(documents, min_tokens)
    assert cut(texts, min_tokens) == ([], texts)


@given(collections(), lengths)
def test_repeats__no_window_stays_twice(documents, min_tokens):
    """Every repeat is found: what stays has no window twice, unless it overlaps itself."""
    _, texts = cut(documents, min_tokens)
    seen = {}
    for number, tokens in enumerate(texts):
        for start, window in enumerate(oracle.windows_of(tokens, min_tokens)):
            document, first = seen.setdefault(window, (number, start))
            assert document == number
            assert start - first < min_tokens


@given(collections(), lengths)
def test_repeats__all_that_was_is_somewhere(documents, min_tokens):
    """Each token of the collection stays in some document."""
    _, texts = cut(documents, min_tokens)
    assert set().union(*texts) == set().union(*documents)


@given(st.integers(1, 60), st.lists(st.integers(0, 2), min_size=1, max_size=7), lengths)
def test_repeats__periodic_text(n, period, min_tokens):
    """Less than two windows and a period stay, and few rows say so."""
    tokens = (period * n)[:n]
    rows, (stays,) = cut([tokens], min_tokens)
    assert len(stays) < 2 * min_tokens + len(period)
    assert len(rows) <= 4 + 2 * n // min_tokens


@given(collections(), lengths, st.integers(1, 6))
def test_repeats__any_room(documents, min_tokens, room):
    """Rows are the same however little room there is at first."""
    rows = found_rows(documents, min_tokens)
    with patch.multiple(repeats, _LEAST_ROOM=room, _SLOTS=0, _AT_A_TIME=room):
        assert found_rows(documents, min_tokens) == rows


@given(collections(), lengths, st.integers(3, 4), st.integers(1, 20))
def test_repeats__counted_in_parts(documents, min_tokens, min_documents, n_at_a_time):
    rows = found_rows(documents, min_tokens, min_documents=min_documents)
    with patch.multiple(repeats, _COUNTED_AT_A_TIME=n_at_a_time):
        assert found_rows(documents, min_tokens, min_documents=min_documents) == rows


@given(collections(), st.integers(2, 12), st.lists(st.integers(100, 120), min_size=2, max_size=12))
def test_repeats__planted_runs(documents, min_tokens, planted):
    """A run planted in two documents goes from the second, if it is long enough."""
    planted = [1000 + 100 * i + token for i, token in enumerate(planted)]
    texts = [*documents, [50, *planted, 51], [52, *planted, 53]]
    rows = [row for row in found_rows(texts, min_tokens) if row[0] == len(texts) - 1]
    n, d = len(planted), len(texts)
    is_long = n >= min_tokens
    expected = [(d - 1, 1, n + 1, d - 2, 1, n + 1)] if is_long else []
    assert rows == expected
