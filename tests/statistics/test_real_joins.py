"""Joins of real records: every pair, and no other, by every measure and algorithm.

Always on the licence texts in ``examples/``. Other files can be named in the environment variable
NEARDUP_REAL_TEXTS, separated as in PATH: JSON lines with a ``text`` column or fields that start
with ``f_``, or TSV with the text in the second column; ``.xz`` and ``.gz`` too.
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import neardup
from tests.calls import grouped
from tests.oracles import edits, weighted
from tests.oracles.measures import JOIN_MEASURES, rank_of_threshold
from tests.oracles.shingles import elements
from tests.oracles.tokens import Options, tokenize

pytestmark = pytest.mark.statistics

EXAMPLE = Path(__file__).parents[2] / "examples" / "licences.jsonl.gz"
MORE = [Path(path) for path in os.environ.get("NEARDUP_REAL_TEXTS", "").split(os.pathsep) if path]
MOST_RECORDS = 1800
THRESHOLDS = ("0.54", "0.8")


def read_records(path):
    """Read the first records: neighbours in a file are often alike."""
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8", newline="") as lines:
        if ".tsv" in path.suffixes:
            rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            texts = [row[1] for row in rows][1:]
        else:
            texts = [text_of(json.loads(line)) for line in lines]
    return texts[:MOST_RECORDS]


def text_of(row):
    if "text" in row:
        return row["text"]
    return " ".join(str(value) for name, value in row.items() if name.startswith("f_"))


@pytest.fixture(scope="module", params=[EXAMPLE, *MORE], ids=lambda path: path.name)
def records(request):
    """Texts, their sets of words, and the overlap of every set with all earlier ones."""
    texts = read_records(request.param)
    sets = [elements(tokenize(text, "words", Options()), 1, "set") for text in texts]
    owners: dict[object, list[int]] = {}
    overlaps = []
    for d, x in enumerate(sets):
        met = [owners[element] for element in x if element in owners]
        flat = np.array([e for others in met for e in others], np.int64)
        overlaps.append(np.bincount(flat, minlength=d))
        for element in x:
            owners.setdefault(element, []).append(d)
    return texts, np.array([len(x) for x in sets]), overlaps


def ranks(measure, overlap, x, y):
    """Give numerators and denominators of the rank of pairs, as ``oracles.measures.rank``."""
    return {
        "jaccard": (overlap, x + y - overlap),
        "cosine": (overlap * overlap, x * y),
        "dice": (2 * overlap, x + y),
        "containment": (overlap, x),
        "max-containment": (overlap, np.minimum(x, y)),
        "overlap": (overlap, np.ones_like(overlap)),
    }[measure]


def similar_pairs(sizes, overlaps, measure, threshold):
    """List (a, b, overlap) of all pairs at the threshold, by whole numbers."""
    least = rank_of_threshold(measure, threshold)
    pairs = []
    for d, row in enumerate(overlaps):
        others = np.flatnonzero(row)
        common = row[others]
        for a, b in ((others, np.full_like(others, d)), (np.full_like(others, d), others)):
            above, below = ranks(measure, common, sizes[a], sizes[b])
            reached = above * least.denominator >= least.numerator * below
            columns = (a[reached], b[reached], common[reached])
            pairs += zip(*(column.tolist() for column in columns), strict=True)
            if measure != "containment":
                break
    return sorted(pairs)


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_find_pairs__real_records(records, measure):
    texts, sizes, overlaps = records
    for threshold in ("12",) if measure == "overlap" else THRESHOLDS:
        expected = similar_pairs(sizes, overlaps, measure, Fraction(threshold))
        for algorithm in ("allpairs", "ppjoin", "ppjoin+"):
            found = neardup.find_pairs(
                texts,
                measure=measure,
                threshold=threshold,
                method=algorithm,
                text=neardup.TextOptions(ngram=1),
            ).pairs.to_pydict()
            columns = [map(int, found["id_a"]), map(int, found["id_b"]), found["overlap"]]
            assert list(zip(*columns, strict=True)) == expected


def test_find_pairs__real_records_in_two_collections(records):
    texts, sizes, overlaps = records
    half = len(texts) // 2
    expected = [
        (a, b)
        for a, b, _ in similar_pairs(sizes, overlaps, "jaccard", Fraction("0.6"))
        if a < half <= b
    ]
    found = neardup.find_pairs(
        texts[:half], texts[half:], threshold="0.6", text=neardup.TextOptions(ngram=1)
    ).pairs
    columns = (found["id_a"].to_pylist(), found["id_b"].to_pylist())
    assert [(int(a), int(b) + half) for a, b in zip(*columns, strict=True)] == expected


def common_weights(sets):
    """Give the common weight of every set with all earlier ones."""
    owners: dict[object, tuple[list[int], list[int]]] = {}
    for d, x in enumerate(sets):
        totals = np.zeros(d, np.int64)
        for element, weight in x.items():
            others, theirs = owners.setdefault(element, ([], []))
            totals[others] += np.minimum(np.array(theirs, np.int64), weight)
            others.append(d)
            theirs.append(weight)
        yield totals


@pytest.mark.parametrize(("tf", "idf"), [("raw", "smooth"), ("log", "standard")])
def test_find_pairs__real_weights(records, tf, idf):
    texts = records[0][:600]
    documents = [tokenize(text, "words", Options()) for text in texts]
    counts = weighted.document_frequencies(documents)
    sets = [weighted.weigh(each, tf, idf, counts, len(documents)) for each in documents]
    sizes = [sum(x.values()) for x in sets]
    common = [row.tolist() for row in common_weights(sets)]
    for threshold in map(Fraction, THRESHOLDS):
        expected = {
            (a, b): shared / (sizes[a] + sizes[b] - shared)
            for b, row in enumerate(common)
            for a, shared in enumerate(row)
            if shared and Fraction(shared, sizes[a] + sizes[b] - shared) >= threshold
        }
        options = {"measure": "weighted-jaccard", "tf": tf, "idf": idf, "threshold": threshold}
        found = neardup.find_pairs(texts, **grouped(**options)).pairs.to_pylist()
        assert {(int(r["id_a"]), int(r["id_b"])): r["similarity"] for r in found} == expected
        assert len(expected) > 20


def test_find_pairs__real_strings(records):
    """Edit distance of the starts of the texts, so that the oracle comes to an end."""
    texts = [text[:24] for text in records[0][:200]]
    for options, threshold in (
        ({"max_distance": 3}, 3),
        ({"measure": "edit", "threshold": "0.75"}, Fraction("0.75")),
    ):
        found = neardup.find_pairs(texts, **grouped(**options)).pairs.to_pydict()
        columns = [map(int, found["id_a"]), map(int, found["id_b"]), found["distance"]]
        assert list(zip(*columns, strict=True)) == edits.join(texts, threshold)
