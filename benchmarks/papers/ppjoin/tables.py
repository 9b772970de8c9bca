"""Tables of the repeated experiments, with the paper's figures beside ours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.markdown import table
from benchmarks.papers.ppjoin.joins import ALGORITHMS, SHARES, THRESHOLDS

if TYPE_CHECKING:
    from benchmarks.measuring.results import Results

NAMES = {"allpairs": "All-Pairs", "ppjoin": "PPJoin", "ppjoin+": "PPJoin+"}

# Figure 2: records, mean size, different tokens.
PAPER_STATISTICS = {
    "DBLP": (873_524, 14.0, 566_518),
    "DBLP-3GRAM": (873_524, 102.5, 113_169),
    "ENRON": (517_386, 142.4, 1_180_186),
    "TREC-4GRAM": (348_566, 866.9, 1_701_746),
    "TREC-Shingle": (348_566, 32.0, 9_788_436),
}
# Table 1: candidates on DBLP by Jaccard similarity.
PAPER_CANDIDATES = {
    "0.95": (199_268, 176_971, 32_397),
    "0.90": (1_857_987, 657_200, 36_318),
    "0.80": (16_983_319, 3_303_232, 63_265),
}
# Section 7.2 and 7.3: how many times faster than All-Pairs at 0.8 (PPJoin, PPJoin+).
PAPER_FASTER = {
    ("jaccard", "DBLP"): (2.0, 2.6),
    ("jaccard", "DBLP-3GRAM"): (3.0, 5.0),
    ("jaccard", "ENRON"): (3.0, 4.0),
    ("cosine", "DBLP"): (2.0, 3.0),
    ("cosine", "ENRON"): (1.6, 1.7),
}
# Table 2: precision and recall of sp, seconds of qa, qp and sp.
PAPER_PAGES = {
    "0.95": (0.38, 0.11, 41.98, 11.76, 1.00),
    "0.90": (0.48, 0.06, 245.03, 43.37, 1.03),
    "0.85": (0.58, 0.04, 926.54, 202.65, 1.03),
    "0.80": (0.57, 0.03, 2467.31, 775.00, 1.05),
}


def best(join: dict[str, Any]) -> float:
    """Return the least seconds of a join's runs."""
    return float(min(join["seconds"]))


def verified(join: dict[str, Any]) -> int:
    """Return the number of a join's candidates."""
    return int(join["counts"]["verified"])


def statistics_table(results: Results) -> str:
    """Lay out the collections and the paper's."""
    found = [
        (name, entry["role"], entry["statistics"])
        for name, entry in results["jaccard"]["figures"].items()
    ]
    for name, entry in results["pages"]["figures"].items():
        found.append((f"{name}, 4-grams", "TREC-4GRAM", entry["statistics"]["4-grams"]))
        found.append((f"{name}, 32 shingles", "TREC-Shingle", entry["statistics"]["sketches"]))
    rows = [(name, *facts.values(), role, *PAPER_STATISTICS[role]) for name, role, facts in found]
    header = ("collection", "records", "mean size", "tokens")
    return table((*header, "in the role of", "records", "mean size", "tokens"), rows)


def candidates_table(results: Results) -> str:
    """Lay out Table 1: candidates on titles, and how many times fewer each filter leaves."""
    joins = results["jaccard"]["figures"]["titles, words"]["joins"]
    rows = []
    for threshold, paper in PAPER_CANDIDATES.items():
        ours = [verified(joins[threshold][name]) for name in ALGORITHMS]
        rows.append((threshold, "paper", *paper, *_reductions(*paper)))
        rows.append((threshold, "here", *ours, *_reductions(*ours)))
    return table(("t", "", *NAMES.values(), "All-Pairs / PPJoin", "PPJoin / PPJoin+"), rows)


def _reductions(all_pairs: int, ppjoin: int, plus: int) -> tuple[float, float]:
    return all_pairs / max(1, ppjoin), ppjoin / max(1, plus)


def joins_table(results: Results, measure: str) -> str:
    """Lay out candidates and times over the thresholds."""
    rows: list[tuple[object, ...]] = []
    for name, entry in results[measure]["figures"].items():
        for threshold in THRESHOLDS:
            joins = [entry["joins"][threshold][algorithm] for algorithm in ALGORITHMS]
            n_results = joins[0]["counts"]["results"]
            rows.append(
                (
                    name,
                    threshold,
                    *map(verified, joins),
                    n_results,
                    f"{n_results / max(1, verified(joins[1])):.2%}",
                    *map(best, joins),
                )
            )
    counted = (*NAMES.values(), "pairs", "of PPJoin's")
    return table(("collection", "t", *counted, *(f"{name}, s" for name in NAMES.values())), rows)


def faster_table(results: Results) -> str:
    """Lay out how many times faster than All-Pairs the others are at 0.8."""
    rows = []
    for measure in ("jaccard", "cosine"):
        for name, entry in results[measure]["figures"].items():
            seconds = [best(entry["joins"]["0.80"][algorithm]) for algorithm in ALGORITHMS]
            ours = [seconds[0] / other for other in seconds[1:]]
            paper = PAPER_FASTER[measure, entry["role"]]
            rows.append((measure, name, ours[0], paper[0], ours[1], paper[1]))
    header = ("measure", "collection", "PPJoin", "paper's", "PPJoin+", "paper's")
    return table(header, rows)


def growth_table(results: Results) -> str:
    """Lay out with which power of the number of records candidates and times grow."""
    rows = []
    for entry in results["growth"]["figures"]:
        joins = entry["joins"]
        for algorithm in ALGORITHMS:
            seconds = [best(joins[str(share)][algorithm]) for share in SHARES]
            counts = [verified(joins[str(share)][algorithm]) for share in SHARES]
            rows.append(
                (
                    f"{entry['collection']}, {entry['measure']}",
                    NAMES[algorithm],
                    *seconds,
                    _exponent(seconds),
                    _exponent(counts),
                )
            )
    shares = (f"{share:.0%}, s" for share in SHARES)
    return table(("join at 0.9", "", *shares, "exponent of time", "of candidates"), rows)


def _exponent(values: list[float] | list[int]) -> float | None:
    """Return the power between the first and the last share; None if nothing was there at first."""
    if min(values[0], values[-1]) <= 0:
        return None
    return math.log(values[-1] / values[0]) / math.log(SHARES[-1] / SHARES[0])


def pages_table(results: Results) -> str:
    """Lay out Table 2."""
    rows: list[tuple[object, ...]] = []
    for name, entry in results["pages"]["figures"].items():
        for threshold, joins in entry["joins"].items():
            ways = [joins[way] for way in ("qa", "qp", "sp")]
            rows.append(
                (
                    name,
                    threshold,
                    joins["sp"]["precision"],
                    joins["sp"]["recall"],
                    *map(best, ways),
                    best(ways[0]) / best(ways[1]),
                    joins["qp"]["counts"]["results"],
                )
            )
    for threshold, (precision, recall, qa, qp, sp) in PAPER_PAGES.items():
        rows.append(("paper", threshold, precision, recall, qa, qp, sp, qa / qp, None))
    times = ("qa, s", "qp, s", "sp, s", "qa / qp")
    return table(("corpus", "t", "precision of sp", "recall of sp", *times, "pairs of qp"), rows)
