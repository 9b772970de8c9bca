"""Passages at the threshold are found as often as is predicted."""

from __future__ import annotations

import random
from fractions import Fraction
from math import sqrt

import pytest

import neardup
from tests.oracles.seeds import least_common

pytestmark = pytest.mark.statistics

N_TRIALS, GAP = 400, 90


def make_texts(rng, n_tokens, similarity):
    """Put passages into two texts that share nothing else; gives where they are in the first.

    They begin and end with common words: what else would be their ends cannot be seen.
    """
    fresh = (f"w{i}" for i in range(10**9))
    query, document, places = [], [], []
    for _ in range(N_TRIALS):
        words = [next(fresh) for _ in range(n_tokens)]
        inside = rng.sample(range(1, n_tokens - 1), least_common(n_tokens, similarity) - 2)
        kept = {0, *inside, n_tokens - 1}
        places.append((len(query), len(query) + n_tokens))
        query += words
        document += [word if i in kept else next(fresh) for i, word in enumerate(words)]
        for text in (query, document):
            text += [next(fresh) for _ in range(GAP + rng.randrange(GAP))]
    return query, document, places


@pytest.mark.parametrize("recall", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize(("n_tokens", "threshold"), [(50, "0.4"), (50, "0.6"), (30, "0.5")])
def test_align__finds_as_many_as_asked_for(n_tokens, threshold, recall):
    rng = random.Random(f"{n_tokens} {threshold}")
    query, document, places = make_texts(rng, n_tokens, Fraction(threshold))
    found = neardup.align(
        [" ".join(query)],
        [" ".join(document)],
        threshold=threshold,
        min_tokens=n_tokens,
        recall=recall,
        tokenizer="whitespace",
    )
    starts = [0]
    for word in query:
        starts.append(starts[-1] + len(word) + 1)
    rows = found.passages.to_pylist()
    n_found = sum(
        any(row["query_start"] < starts[stop] and starts[start] < row["query_end"] for row in rows)
        for start, stop in places
    )
    assert found.summary["predicted_recall"] >= float(recall) - 1e-9
    # Not below by more than five standard errors; overlapping windows find some more.
    error = sqrt(float(recall) * (1 - float(recall)) / N_TRIALS)
    assert n_found / N_TRIALS >= float(recall) - 5 * error
