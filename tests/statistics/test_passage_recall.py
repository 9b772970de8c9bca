"""Passages at exactly the threshold are found as often as the theory says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from math import sqrt

import pytest

from neardup import PassageIndex, TextOptions
from tests.oracles.search import probability_of_hits
from tests.properties.search.cases import windows_of

pytestmark = pytest.mark.statistics

N_TRIALS = 2000
NUM_PERM = 32
THRESHOLD = Fraction(4, 5)


def words(prefix: str) -> Iterator[str]:
    number = 0
    while True:
        yield f"{prefix}{number}"
        number += 1


def plant(copies: int) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Make queries, a document for each, and where in it the passage of similarity 4/5 stands.

    16 of 20 words that are in a single document are common, and so are 24 of 30 that are in two;
    each comes ``copies`` times. So the similarity is 4/5 whatever words weigh by these numbers.
    Words that only the passage has stand in its middle, so that no other sub-text reaches the
    threshold.
    """
    generator = random.Random(8)
    rare, frequent, around = words("r"), words("f"), words("a")
    queries, documents, spans, second = [], [], [], []
    for _ in range(N_TRIALS):
        mine = [[next(rare) for _ in range(2)], [next(frequent) for _ in range(3)]]
        yours = [[next(rare) for _ in range(2)], [next(frequent) for _ in range(3)]]
        common = [next(rare) for _ in range(16)] + [next(frequent) for _ in range(24)]
        second += [[*common[16:], *mine[1], *yours[1]], yours[1]]
        left, middle, right = (
            copies * common[::2],
            copies * (mine[0] + mine[1]),
            copies * common[1::2],
        )
        query = copies * (common + yours[0] + yours[1])
        for part in (left, middle, right, query):
            generator.shuffle(part)
        before = [next(around) for _ in range(generator.randint(0, 9))]
        after = [next(around) for _ in range(generator.randint(0, 9))]
        text = " ".join([*before, *left, *middle, *right, *after])
        start = len(" ".join([*before, ""]))
        spans.append((start, len(text) - len(" ".join(["", *after]))))
        queries.append(" ".join(query))
        documents.append(text)
    # All words "f" are in two documents; these come behind, and are not similar to any query.
    for number, extra in enumerate(second):
        documents.append(" ".join(f"{word} x{number}-{i}" for i, word in enumerate(extra)))
    return queries, documents, spans


@pytest.mark.parametrize(
    ("tf", "idf", "copies"),
    [("binary", "unary", 1), ("raw", "unary", 2), ("log", "standard", 2)],
)
def test_recall__of_passages_at_the_threshold(tmp_path, tf, idf, copies):
    queries, documents, spans = plant(copies)
    index = PassageIndex.create(
        tmp_path / "index",
        min_tokens=25,
        num_perm=NUM_PERM,
        text=TextOptions(tf=tf, idf=idf, seed=7),
    )
    index.add(documents)
    for recall in ("0.6", "0.95"):
        expected = min(
            p
            for hits in range(1, NUM_PERM + 1)
            if (p := probability_of_hits(NUM_PERM, hits, THRESHOLD)) >= Fraction(recall)
        )
        spread = sqrt(N_TRIALS * expected * (1 - expected))

        candidates = set()
        _, found = windows_of(index, queries, THRESHOLD, recall=recall)
        for number, (start, end) in enumerate(spans):
            text = documents[number]
            span = text[:start].count(" "), text[:end].count(" ")
            if span in found.get((number, str(number)), {}):
                candidates.add(str(number))
        assert abs(len(candidates) - N_TRIALS * expected) < 4 * spread

        rows = index.search(queries, THRESHOLD, recall=recall).passages.to_pylist()
        found = {row["query_id"] for row in rows}
        assert len(rows) == len(found)
        for row in rows:
            assert row["doc_id"] == row["query_id"]
            assert (row["doc_start"], row["doc_end"]) == spans[int(row["query_id"])]
            assert row["similarity"] == float(THRESHOLD)
        # Those between other candidates of the same start are looked at, too.
        assert found >= candidates
        assert len(found - candidates) < 2 * spread
