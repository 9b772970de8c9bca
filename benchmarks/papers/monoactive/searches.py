"""Searches as ``neardup search`` makes them, by the length of the query and by what is reported."""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks.corpora.documents import prepare
from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.packaged import CORPORA
from benchmarks.papers.monoactive.texts import LONG
from neardup import PassageIndex
from neardup.passages.plan import SearchPlan
from neardup.passages.rectangles import find_windows
from neardup.passages.windows import make_queries
from neardup.runs.runner import Runner
from neardup.tables import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.passages.rectangles import Rectangles

FUNCTIONS, MIN_TOKENS, THRESHOLD = 64, 25, Fraction(8, 10)
WORDS, QUICK_WORDS = 1_000_000, 50_000
LENGTHS, N_QUERIES, EXCHANGED = (50, 100, 200, 500, 1_000, 5_000), 40, 20
find_words = re.compile(r"[a-z]+", re.IGNORECASE).findall
# The paper's rule: so many of the min-hashes as the threshold is a share.
HITS = ceil(FUNCTIONS * THRESHOLD)
# What is asked for: passages by recall, by the paper's rule, and all sub-texts by that rule.
ASKED: dict[str, dict[str, Any] | None] = {
    "passages, recall 0.99": {},
    f"passages, {HITS} hits": {"hits": HITS},
    f"all windows, {HITS} hits": None,
}


def run_searches(*, quick: bool) -> dict[str, Any]:
    """Build an index of a million words, and search it for longer and longer passages.

    Half the queries are passages of its texts, every twentieth word exchanged; half are of others.
    """
    most = QUICK_WORDS if quick else WORDS
    words = find_words(" ".join(read_strings(prepare(LONG, CORPORA[LONG]))))[: 2 * most]
    size = most // 100
    starts = range(0, most, size)
    texts = {str(number): " ".join(words[at : at + size]) for number, at in enumerate(starts)}
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as folder:
        index = PassageIndex.create(
            Path(folder) / "index", num_perm=FUNCTIONS, min_tokens=MIN_TOKENS, tf="raw"
        )
        rows = [{"id": name, "text": text} for name, text in texts.items()]
        index.add(rows, id_column="id", workers=1)
        entries = [
            {"words": length, **_search(index, words, length, rng)}
            for length in LENGTHS[: 2 if quick else None]
        ]
    return {"words": most, "documents": len(texts), "hits": HITS, "lengths": entries}


def _search(
    index: PassageIndex,
    words: Sequence[str],
    length: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    queries, most = [], len(words) // 2
    for number in range(N_QUERIES):
        low = most if number % 2 else 0
        start = int(rng.integers(low, low + most - length))
        query = list(words[start : start + length])
        for place in range(int(rng.integers(EXCHANGED)), length, EXCHANGED):
            query[place] = words[int(rng.integers(len(words)))]
        queries.append(" ".join(query))
    return {name: _time(index, queries, options) for name, options in ASKED.items()}


def _time(
    index: PassageIndex, queries: Sequence[str], options: dict[str, Any] | None
) -> dict[str, Any]:
    milliseconds, found, sub_texts, similar = [], 0, 0, 0
    for query in [queries[0], *queries]:
        start = time.process_time()
        if options is None:
            corners = _list_windows(index, query).corners
            n_rows = len(corners)
        else:
            n_rows = len(index.search([query], THRESHOLD, workers=1, **options).passages)
        milliseconds.append((time.process_time() - start) * 1e3)
        if len(milliseconds) > 1:
            found += n_rows
            similar += n_rows > 0
            if options is None:
                sides = corners[:, [1, 3]] - corners[:, [0, 2]] + 1
                sub_texts += int(sides.prod(axis=1).sum())
    return {
        "mean_ms": round(statistics.fmean(milliseconds[1:]), 3),
        "median_ms": round(statistics.median(milliseconds[1:]), 3),
        "queries_with_any": similar,
        "rows": found,
        "sub_texts": sub_texts,
    }


def _list_windows(index: PassageIndex, query: str) -> Rectangles:
    """List all sub-texts with enough min-hashes, not compared exactly."""
    view = index._handle.view(Runner(1))  # noqa: SLF001
    tokens, _ = view.scheme.tokenizer.locate_tokens(Texts.from_arrow(pa.array([query])))
    queries = list(make_queries(tokens, view.scheme, view.frequencies))
    return find_windows(view, queries, SearchPlan(THRESHOLD, HITS, view.scheme.least_shingles))
