"""Collections of token lists that repeat each other and themselves, and what is cut out of them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from neardup.passages.repeats import find_repeats, sample_windows
from neardup.tables import TokenLists
from tests.arrays import ragged


def spread(number):
    """A 64-bit value for a small number."""
    return (number * 0x9E3779B97F4A7C15 + 1) % 2**64


def make_tokens(documents, *, lead=0):
    return TokenLists(*ragged([list(map(spread, each)) for each in documents], lead=lead))


def repeats_of(tokens, order, min_tokens, *, n_parts=3, heads=None, **options):
    """What goes of token lists in memory, with their samples in some parts.

    ``heads`` says of each list which tokens begin a character; None: all do.
    """
    samples = sample_windows(tokens, min_tokens)
    parts = samples.hashes % np.uint64(n_parts)

    def each_part(look):
        return [look(samples.select(np.flatnonzero(parts == k))) for k in range(n_parts)]

    def read(documents):
        lists = [tokens.values[tokens.offsets[d] : tokens.offsets[d + 1]] for d in documents]
        parts = [np.array(heads[d], np.bool_) for d in documents] if heads else []
        return TokenLists(*ragged(lists), np.concatenate([np.empty(0, np.bool_), *parts]))

    return find_repeats(each_part, read, np.array(order, np.int64), min_tokens, **options)


def found_rows(documents, min_tokens, order=None, heads=None, **options):
    """Rows as tuples: document, start, stop, kept document, kept start, kept stop."""
    order = list(range(len(documents))) if order is None else order
    # Documents that are not in the order are not there.
    there = sorted(order)
    tokens = make_tokens([documents[d] for d in there])
    heads = heads and [heads[d] for d in there]
    numbers = [there.index(d) for d in order]
    found = repeats_of(tokens, numbers, min_tokens, heads=heads, **options)
    rows = zip(*(column.tolist() for column in vars(found).values()), strict=True)
    return [(there[row[0]], *row[1:3], there[row[3]], *row[4:6]) for row in rows]


def removed_by(rows, n_documents):
    """Tokens of each document that rows take away; no two rows take the same."""
    removed = [set() for _ in range(n_documents)]
    for document, start, stop, *_ in rows:
        assert start < stop
        assert removed[document].isdisjoint(range(start, stop))
        removed[document].update(range(start, stop))
    return removed


def what_stays(documents, removed):
    pairs = zip(documents, removed, strict=True)
    return [[t for i, t in enumerate(tokens) if i not in gone] for tokens, gone in pairs]


@st.composite
def collections(draw, max_documents=6):
    """Documents put together from few pieces: periodic, stitched together, cut off anywhere."""
    n_kinds = draw(st.sampled_from([1, 2, 2, 3, 5, 20]))
    token = st.integers(0, n_kinds - 1)
    pieces = draw(st.lists(st.lists(token, min_size=1, max_size=14), min_size=1, max_size=5))
    piece = st.one_of(st.sampled_from(pieces), st.lists(token, max_size=10))
    text = st.lists(piece, max_size=7).map(lambda parts: [t for part in parts for t in part])
    return draw(st.lists(text, max_size=max_documents))


# Tokens of characters: some begin as others do, or end so, and some are a beginning of others.
PIECES = [(1,), (2, 101), (2, 102), (3, 101), (1, 101, 102), (4, 102, 101)]
# Those of characters that fold to what several others are.
FOLDED = [(1,), (2,), (1, 1), (1, 2), (2, 1, 1)]


def characters_of(documents, characters):
    """Tokens of documents of such characters, by their numbers, and which tokens begin one."""
    made = [[characters[number % len(characters)] for number in each] for each in documents]
    tokens = [[token for character in each for token in character] for each in made]
    heads = [[i == 0 for character in each for i in range(len(character))] for each in made]
    return tokens, heads


lengths = st.integers(1, 12)
