"""Experiments of "Efficient similarity joins for near duplicate detection" (2008), repeated.

``python -m benchmarks.papers.ppjoin`` takes ten minutes on one core; docs/papers.md has findings.
Files that NEARDUP_REAL_TEXTS names are joined as well. Times are processor time of one thread.

As in the paper, a record is cut at white space and punctuation, its grams are taken from the words
joined by single spaces, and a token that comes again in a record counts as a new one.
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.corpora.build import all_corpora
from benchmarks.corpora.documents import prepare
from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.records import RECORDS, given_files
from benchmarks.corpora.texts import make_texts
from benchmarks.papers.experiments import Row, make_parser, run_parts
from neardup.matching.join import ALGORITHMS
from neardup.matching.measures import make_measure
from neardup.matching.set_join import SetJoin
from neardup.runs.runner import Runner
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.tables import ShingleSets
from neardup.text.shingles import make_shingle_scheme, shingle_lists, shingle_sets

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from neardup.tables import ScoredPairs, Texts
    from neardup.text.shingles import ShingleScheme

QUICK_RECORDS = 4_000
THRESHOLDS, GROWTH_THRESHOLD = ("0.95", "0.90", "0.85", "0.80"), "0.90"
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
# Short runs are repeated more often, because they vary more.
LEAST_ROUNDS, MOST_ROUNDS, LEAST_SECONDS = 3, 10, 1.0
PERMUTATIONS = 32

find_words = re.compile(r"\w+").findall
WORDS = make_shingle_scheme("words", ngram=1, occurrences="numbered")


def grams(length: int) -> ShingleScheme:
    """Return the scheme of character grams of the given length, case folded away."""
    return make_shingle_scheme("characters", ngram=length, occurrences="numbered", casefold=True)


def collections() -> dict[str, tuple[str, ShingleScheme]]:
    """Map the name of each collection to its corpus and shingles."""
    given = [name for name in given_files() if name not in CORPORA | RECORDS]
    return {
        "titles, words": ("titles", WORDS),
        "titles, 3-grams": ("titles", grams(3)),
        "licences, words": ("licences", WORDS),
        **{f"{name}, words": (name, WORDS) for name in given},
    }


def read_texts(name: str, *, quick: bool) -> Texts:
    """Read a corpus, built if need be: the words of each document, joined by single spaces."""
    path = prepare(name, all_corpora()[name])
    strings = read_strings(path, QUICK_RECORDS if quick else None)
    return make_texts([" ".join(find_words(string)) for string in strings])


def read_sets(name: str, *, quick: bool) -> ShingleSets:
    """Read a collection as sets of tokens."""
    corpus, scheme = collections()[name]
    return shingle_sets(read_texts(corpus, quick=quick), scheme)


def time_each(ways: Mapping[str, Callable[[], object]], *, quick: bool) -> dict[str, float]:
    """Run every way in turn, in at least three rounds; return the least seconds of each."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(1 if quick else MOST_ROUNDS):
        spent = sum(map(sum, seconds.values()))
        if number >= LEAST_ROUNDS and spent >= LEAST_SECONDS * len(ways):
            break
        names = list(ways)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start = time.process_time()
            ways[name]()
            seconds[name].append(time.process_time() - start)
    return {name: min(times) for name, times in seconds.items()}


def measure_joins(
    sets: ShingleSets, measure: str, threshold: str, *, quick: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    """Count and time one join by each algorithm; all must find the same pairs."""
    wanted = make_measure(measure, threshold)
    counts: dict[str, Any] = {}

    def join(algorithm: Any) -> None:
        counts[algorithm] = SetJoin(sets, wanted, algorithm).run(None, None, Runner(1))[1]

    seconds = time_each({name: partial(join, name) for name in ALGORITHMS}, quick=quick)
    counts = {name: asdict(each) for name, each in counts.items()}
    if len({each["results"] for each in counts.values()}) != 1:
        message = f"the algorithms disagree at {measure} {threshold}: {counts}"
        raise AssertionError(message)
    return counts, seconds


def run_joins(options: argparse.Namespace, measure: str) -> list[Row]:
    """Join every collection over the thresholds (Table 1, Figures 3a to 3j)."""
    rows = []
    for name in collections():
        # The paper has no cosine similarity of 3-grams.
        if measure == "cosine" and name == "titles, 3-grams":
            continue
        sets = read_sets(name, quick=options.quick)
        for threshold in THRESHOLDS:
            counts, seconds = measure_joins(sets, measure, threshold, quick=options.quick)
            row: Row = {"collection": name, "t": threshold}
            row |= {each: counts[each]["verified"] for each in ALGORITHMS}
            row["pairs"] = counts["allpairs"]["results"]
            rows.append(row | {f"{each}, s": seconds[each] for each in ALGORITHMS})
    return rows


def run_growth(options: argparse.Namespace) -> list[Row]:
    """Join random samples of 20 to 100 % at 0.9 (Figures 1, 3k, 3l)."""
    rows = []
    for name, measure in (
        ("titles, words", "jaccard"),
        ("licences, words", "cosine"),
        ("titles, 3-grams", "jaccard"),
    ):
        sets = read_sets(name, quick=options.quick)
        order = np.random.default_rng(1).permutation(len(sets))
        parts = [sets.take(np.sort(order[: round(share * len(sets))])) for share in SHARES]
        found = [measure_joins(p, measure, GROWTH_THRESHOLD, quick=options.quick) for p in parts]
        for algorithm in ALGORITHMS:
            seconds = [each[1][algorithm] for each in found]
            counts = [each[0][algorithm]["verified"] for each in found]
            row: Row = {"join at 0.9": f"{name}, {measure}", "algorithm": algorithm}
            row |= {f"{share:.0%}, s": s for share, s in zip(SHARES, seconds, strict=True)}
            row["exponent of time"] = _exponent(seconds)
            rows.append(row | {"of candidates": _exponent(counts)})
    return rows


def _exponent(values: list[Any]) -> float | None:
    """Return the power between the first and the last share; None if the first has nothing."""
    if min(values[0], values[-1]) <= 0:
        return None
    return math.log(values[-1] / values[0]) / math.log(SHARES[-1] / SHARES[0])


def run_pages(options: argparse.Namespace) -> list[Row]:
    """Find near-duplicate pages (section 7.5): by 4-grams, and by 32 shingles of 4 bytes."""
    rows = []
    for name in dict.fromkeys(corpus for corpus, _ in collections().values()):
        if name == "titles":
            continue
        texts = read_texts(name, quick=options.quick)
        sets = {"4-grams": shingle_sets(texts, grams(4)), "32 shingles": sketch_sets(texts)}
        ways = {"qp": ("4-grams", "ppjoin+"), "qa": ("4-grams", "allpairs")}
        ways["sp"] = ("32 shingles", "ppjoin+")
        for threshold in THRESHOLDS:
            found: dict[str, ScoredPairs] = {}
            joins = {
                way: partial(_join, sets[of], threshold, algorithm, found, way)
                for way, (of, algorithm) in ways.items()
            }
            seconds = time_each(joins, quick=options.quick)
            truth, pairs = found["qp"], found["sp"]
            numbers = [each.left * len(texts) + each.right for each in (truth, pairs)]
            common = len(np.intersect1d(*numbers, assume_unique=True))
            row: Row = {"corpus": name, "t": threshold}
            row["precision of sp"] = common / len(pairs) if len(pairs) else None
            row["recall of sp"] = common / len(truth) if len(truth) else None
            row |= {f"{way}, s": seconds[way] for way in ways}
            rows.append(row | {"pairs of qp": len(truth)})
    return rows


def _join(
    sets: ShingleSets, threshold: str, algorithm: Any, found: dict[str, ScoredPairs], way: str
) -> None:
    wanted = make_measure("jaccard", threshold)
    found[way], _ = SetJoin(sets, wanted, algorithm).run(None, None, Runner(1))


def sketch_sets(texts: Texts) -> ShingleSets:
    """Make each text a set of 32 elements: its least shingle by each permutation, in 4 bytes.

    Values of different permutations never match, so all sets have 32 elements.
    """
    scheme = grams(4)
    lists = shingle_lists(scheme.tokenizer.hash_tokens(texts), scheme)
    least = minhash_signatures(lists, MinHashScheme(PERMUTATIONS)).astype(np.uint64)
    numbers = np.arange(PERMUTATIONS, dtype=np.uint64) << np.uint64(32)
    starts = np.arange(len(texts), dtype=np.int64) * PERMUTATIONS
    # A text without shingles is similar to nothing.
    sizes = np.where(np.diff(lists.offsets) > 0, PERMUTATIONS, 0).astype(np.int64)
    return ShingleSets((numbers | least).ravel(), starts, sizes)


if __name__ == "__main__":
    run_parts(
        make_parser("benchmarks.papers.ppjoin", __doc__),
        {
            "jaccard": partial(run_joins, measure="jaccard"),
            "cosine": partial(run_joins, measure="cosine"),
            "growth": run_growth,
            "pages": run_pages,
        },
    )
