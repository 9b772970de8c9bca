"""Queries looked up in an index, in one process and thread: ``lookups.py INDEX --queries 500``.

Queries are passages of the index's own texts with some tokens exchanged for others of its
vocabulary, and patchworks: short runs from many texts, which are like nothing in the index. Each
is looked up by itself, after one round to warm up. Prints milliseconds of every query, what was
found of the passages, and memory, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measuring.clocks import Memory
from neardup import PassageIndex, RunOptions
from neardup.kernels.text.weights import fill_weights
from neardup.passages.index import PassageHandle
from neardup.passages.lookup import Asked, find_passages
from neardup.passages.plan import make_search_plan
from neardup.passages.windows import gather_queries, inverse_frequencies
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.text.weighting import term_frequencies

if TYPE_CHECKING:
    from neardup.passages.index import OpenPassages
    from neardup.passages.lookup import Found
    from neardup.passages.segment import PassageSegment
    from neardup.tables import Uint64s

THRESHOLD, RECALL = Fraction(8, 10), Fraction(99, 100)
EXCHANGED = (5, 10)  # percent, the least and the most
PIECES = 10
# Whole calls, texts in and tables out, of the first queries.
CALLS = 100


@dataclass(frozen=True)
class Place:
    """A run of tokens: its segment, the number of its document there, and its first token."""

    segment: PassageSegment
    document: int
    start: int

    def tokens(self, size: int) -> Uint64s:
        """Give so many token hashes."""
        segment = self.segment
        return segment.vocabulary[segment.tokens[self.start : self.start + size]]

    def text(self, size: int) -> str:
        """Give the text from the first to the last of so many tokens."""
        places = np.array([self.start, self.start + size - 1], np.int64)
        documents = np.full(2, self.document, np.int64)
        starts, stops = self.segment.byte_places(places, documents)
        encoded = self.segment.texts[self.document].as_py().encode()
        return encoded[int(starts[0]) : int(stops[1])].decode()


@dataclass(frozen=True)
class Query:
    """A query, and the passage that it was made from, which a patchwork has not."""

    tokens: Uint64s
    place: Place | None = None
    similarity: Fraction = Fraction(0)


def draw_passage(index: OpenPassages, n_tokens: int, rng: np.random.Generator) -> Query:
    """Take a passage of a text at random and exchange some of its tokens."""
    place = _draw_place(index, n_tokens, rng)
    original = place.tokens(n_tokens)
    changed = original.copy()
    share = rng.integers(EXCHANGED[0], EXCHANGED[1], endpoint=True)
    places = rng.choice(n_tokens, size=n_tokens * int(share) // 100, replace=False)
    segment = place.segment
    others = rng.integers(0, len(segment.tokens), len(places))
    changed[places] = segment.vocabulary[segment.tokens[others]]
    return Query(changed, place, similarity(changed, original, index))


def draw_patchwork(index: OpenPassages, n_tokens: int, rng: np.random.Generator) -> Query:
    """Put short runs of tokens of several texts together."""
    size = n_tokens // PIECES
    return Query(
        np.concatenate([_draw_place(index, size, rng).tokens(size) for _ in range(PIECES)])
    )


def _draw_place(index: OpenPassages, n_tokens: int, rng: np.random.Generator) -> Place:
    """Draw where in the index a run of tokens of one text begins."""
    while True:
        start = int(rng.integers(0, sum(len(segment.tokens) for segment in index.segments)))
        for segment in index.segments:
            if start < len(segment.tokens):
                break
            start -= len(segment.tokens)
        document = int(np.searchsorted(segment.offsets, start, side="right")) - 1
        if start + n_tokens <= segment.offsets[document + 1]:
            return Place(segment, document, start)


def similarity(first: Uint64s, second: Uint64s, index: OpenPassages) -> Fraction:
    """Work out the similarity of two token lists from what their tokens weigh in an index."""
    left, right = (
        Counter(dict(zip(*weigh(tokens, index), strict=True))) for tokens in (first, second)
    )
    return Fraction((left & right).total(), (left | right).total())


def weigh(tokens: Uint64s, index: OpenPassages) -> tuple[list[int], list[int]]:
    """Return the different ones of some tokens, and what they weigh in an index."""
    hashes, counts = np.unique(tokens, return_counts=True)
    table = term_frequencies(index.scheme.weighting.tf, int(counts.max()))
    inverses = inverse_frequencies(hashes, index.scheme, index.frequencies)
    weighed = np.empty(len(hashes), np.int64)
    fill_weights(counts, table, inverses, weighed)
    return hashes.tolist(), weighed.tolist()


def look_up(index: OpenPassages, queries: list[Query]) -> dict[str, Any]:
    """Look queries up one by one; give milliseconds and what was found."""
    plan = make_search_plan(index.scheme, THRESHOLD, RECALL)
    runner = Runner(1)
    for _ in range(2):
        milliseconds, n_found, n_similar, n_similar_found, n_passages = [], 0, 0, 0, 0
        for query in queries:
            starts, stops = np.zeros(1, np.int64), np.full(1, len(query.tokens), np.int64)
            start = time.perf_counter()
            made = gather_queries(query.tokens, starts, stops, index.scheme, index.frequencies)
            (found,) = find_passages(index, [Asked(made)], plan, IN_MEMORY, runner, lambda _: None)
            milliseconds.append(round((time.perf_counter() - start) * 1e3, 4))
            n_passages += len(found)
            is_found = query.place is not None and _has_middle(index, query, query.place, found)
            n_found += is_found
            if query.similarity >= THRESHOLD:
                n_similar += 1
                n_similar_found += is_found
    return {
        "queries": len(queries),
        "milliseconds": milliseconds,
        "found": n_found,
        "similar": n_similar,
        "similar_found": n_similar_found,
        "passages": n_passages,
    }


def _has_middle(index: OpenPassages, query: Query, place: Place, found: Found) -> bool:
    """Tell whether the middle of the passage that a query was made from is in what was found."""
    document, middle = 0, place.start + len(query.tokens) // 2
    for segment in index.segments:
        if segment is place.segment:
            break
        document += len(segment.ids)
    document += place.document
    middle -= int(place.segment.offsets[place.document])
    is_there = (found.starts <= middle) & (middle < found.stops)
    return bool((is_there & (found.documents == document)).any())


def time_calls(index: PassageIndex, texts: list[str]) -> list[float]:
    """Take the milliseconds of whole calls of ``PassageIndex.search``."""
    milliseconds = []
    for text in texts[:1] + texts:
        start = time.perf_counter()
        index.search(text, str(float(THRESHOLD)), run=RunOptions(workers=1))
        milliseconds.append(round((time.perf_counter() - start) * 1e3, 4))
    return milliseconds[1:]


def main() -> None:
    """Look up queries of both kinds."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--tokens", type=int, default=100)
    options = parser.parse_args()
    memory = Memory()
    start = time.perf_counter()
    index = PassageHandle(options.folder).view(Runner(1))
    opened = time.perf_counter() - start
    rng = np.random.default_rng(1)
    passages = [draw_passage(index, options.tokens, rng) for _ in range(options.queries)]
    patchworks = [draw_patchwork(index, options.tokens, rng) for _ in range(options.queries)]
    texts = [query.place.text(options.tokens) for query in passages[:CALLS] if query.place]
    report = {
        "tokens": sum(len(each.tokens) for each in index.segments),
        "segments": len(index.segments),
        "query_tokens": options.tokens,
        "open_seconds": round(opened, 4),
        "passages": look_up(index, passages),
        "patchworks": look_up(index, patchworks),
        "calls": time_calls(PassageIndex.open(options.folder), texts),
    }
    sys.stdout.write(json.dumps({**report, "memory": memory.report()}) + "\n")


if __name__ == "__main__":
    main()
