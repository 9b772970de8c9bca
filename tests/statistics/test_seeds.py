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


def count_found(query, places, found):
    """Count the places, in words of a query, that a passage found is at."""
    starts = [0]
    for word in query:
        starts.append(starts[-1] + len(word) + 1)
    rows = found.passages.to_pylist()
    return sum(
        any(row["query_start"] < starts[stop] and starts[start] < row["query_end"] for row in rows)
        for start, stop in places
    )


def align_words(query, document, **options):
    text = neardup.TextOptions(tokenizer="whitespace")
    return neardup.align([" ".join(query)], [" ".join(document)], text=text, **options)


@pytest.mark.parametrize("recall", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize(("n_tokens", "threshold"), [(50, "0.4"), (50, "0.6"), (30, "0.5")])
def test_align__finds_as_many_as_asked_for(n_tokens, threshold, recall):
    rng = random.Random(f"{n_tokens} {threshold}")
    query, document, places = make_texts(rng, n_tokens, Fraction(threshold))
    found = align_words(query, document, threshold=threshold, min_tokens=n_tokens, recall=recall)
    n_found = count_found(query, places, found)
    assert found.summary["predicted_recall"] >= float(recall) - 1e-9
    # Not below by more than five standard errors; overlapping windows find some more.
    error = sqrt(float(recall) * (1 - float(recall)) / N_TRIALS)
    assert n_found / N_TRIALS >= float(recall) - 5 * error


@pytest.mark.parametrize("recall", ["0.5", "0.9"])
def test_align__finds_as_many_that_are_contained(recall):
    """Passages of which a share at the threshold is in the document, at random places."""
    rng = random.Random(recall)
    n, share, trials = 50, Fraction(3, 5), 300
    fresh = (f"w{i}" for i in range(10**9))
    query, document, places = [], [], []
    for _ in range(trials):
        words = [next(fresh) for _ in range(n)]
        kept = {0, n - 1, *rng.sample(range(1, n - 1), int(share * n) - 2)}
        places.append((len(query), len(query) + n))
        query += words
        for i in sorted(kept):
            document += [words[i], *(next(fresh) for _ in range(rng.randrange(6)))]
        query += [next(fresh) for _ in range(60 + rng.randrange(60))]
        document += [next(fresh) for _ in range(800)]
    found = neardup.align(
        [" ".join(query)],
        [" ".join(document)],
        measure="containment",
        threshold=share,
        min_tokens=n,
        recall=recall,
        text=neardup.TextOptions(idf="unary"),
    )
    n_found = count_found(query, places, found)
    predicted = found.summary["predicted_recall"]
    assert predicted >= float(recall) - 1e-9
    # Not below by more than five standard errors.
    assert n_found >= trials * predicted - 5 * (trials * predicted * (1 - predicted)) ** 0.5
