"""Passages cut out by shingles of several tokens."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup import InvalidParameterError
from tests.calls import grouped
from tests.each import each_of
from tests.examples import examples

SHARED = "one two three four five six seven eight nine ten"


@each_of("ngram", [None, 2, 3, 8])
def test_cut__whole_tokens(ngram):
    """What goes is from the first token of its first shingle to the last of its last."""
    texts = [SHARED, f"a b {SHARED} c d", " ".join(reversed(SHARED.split()))]
    cut = neardup.cut(texts, min_tokens=8, text=neardup.TextOptions(ngram=ngram))
    row, *others = cut.removed.to_pylist()
    # As multisets of words both orders are the same.
    assert [other["id"] for other in others] == (["2"] if ngram is None else [])
    assert texts[1][row["start"] : row["end"]].strip() == SHARED
    assert (row["id"], row["kept_id"], row["similarity"]) == ("1", "0", 1.0)
    assert (row["kept_start"], row["kept_end"]) == (0, len(SHARED))


def test_cut__ngram_above_min_tokens():
    with pytest.raises(InvalidParameterError, match=r"^min_tokens.*ngram.*4"):
        neardup.cut([SHARED], min_tokens=4, text=neardup.TextOptions(ngram=5))
    with pytest.raises(InvalidParameterError, match=r"^ngram.*exact"):
        neardup.cut([SHARED], exact=True, text=neardup.TextOptions(ngram=2))


@examples(6)
@given(seed=st.integers(0, 2**32), ngram=st.integers(2, 4), threshold=st.sampled_from([0.4, 0.8]))
def test_cut__nothing_goes_from_what_is_left(seed, ngram, threshold):
    rng = random.Random(seed)
    pieces = [[f"w{rng.randrange(40)}" for _ in range(12)] for _ in range(3)]
    texts = []
    for _ in range(4):
        words = [word for _ in range(rng.randint(1, 3)) for word in rng.choice(pieces)]
        for _ in range(len(words) // 12):
            words[rng.randrange(len(words))] = f"x{rng.randrange(10**6)}"
        texts.append(" ".join(words))
    options = {"min_tokens": 8, "ngram": ngram, "threshold": threshold, "tokenizer": "whitespace"}
    cut = neardup.cut(texts, **grouped(**options))
    kept = cut.kept["text"].to_pylist()
    assert (len(cut.removed) == 0) == (kept == texts)
    assert len(neardup.cut(kept, **grouped(**options)).removed) == 0
