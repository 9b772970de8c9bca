"""Summaries are as their types say: no key that they lack, no value of another type."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import neardup
from neardup.outputs.summary_records import (
    ClusterSummary,
    CompareSummary,
    CutSummary,
    DedupSummary,
    DocumentSearchSummary,
    EstimateSummary,
    PairSummary,
    PassageSummary,
    SketchSummary,
)
from tests.calls import grouped

TEXTS = ["the cat sat on the mat today and went away " * 3, "a dog", ""]
GOOD = [{"text": text, "kind": "a"} for text in (*TEXTS, TEXTS[0].upper())]
ROWS = [*GOOD, {"text": None, "kind": None}]
SKIP = {"on_error": "skip"}


WHERE = {"where": "length(text) > 9"}


def of_dedup(_: Path) -> Iterator[Any]:
    for options in (
        {},
        {"against": GOOD[:1]},
        {"method": "auto", "audit": 2},
        {"method": "minhash", "audit": 2, "bands": (20, 5)},
        {"clusters": "components"},
        {"measure": "weighted-jaccard"},
        {"preset": "ocr"},
        WHERE,
    ):
        yield neardup.deduplicate(GOOD, **grouped(**options))
    yield neardup.deduplicate(ROWS, **grouped(against=ROWS, **SKIP))
    yield neardup.choose(neardup.find_pairs(GOOD), GOOD, clusters="components")
    yield neardup.choose(neardup.find_pairs(GOOD))


def of_pairs(_: Path) -> Iterator[Any]:
    for options in (
        {"method": "minhash"},
        {"max_distance": 5},
        {"top": 1, **WHERE},
        {"preset": "titles"},
        {"measure": "weighted-jaccard", "idf": "unary"},
        {"blocking": "kind", "one_to_one": True, "columns": "kind", "also": "kind"},
    ):
        yield neardup.find_pairs(GOOD, **grouped(**options))
    yield neardup.find_pairs(ROWS, ROWS, **grouped(**SKIP))


def of_cut(_: Path) -> Iterator[Any]:
    yield neardup.cut(GOOD, **grouped(**WHERE))
    for options in ({"unit": "lines", "exact": True}, {"against": GOOD, "min_tokens": 5}):
        yield neardup.cut(GOOD, **grouped(**options))
    found = neardup.cut(ROWS, **grouped(min_tokens=5, **SKIP))
    yield found
    yield neardup.cut(GOOD, named_in=found)


def of_passages(folder: Path) -> Iterator[Any]:
    index = neardup.PassageIndex.create(folder / "index", min_tokens=5)
    index.add(GOOD)
    yield index.search(ROWS, **grouped(**SKIP))
    yield neardup.align(GOOD, index)
    yield neardup.align(GOOD, **grouped(preset="editions", **WHERE))
    yield neardup.align(ROWS, GOOD, **grouped(min_tokens=5, summary="documents", **SKIP))
    yield neardup.align(GOOD, min_tokens=5, max_documents=5)


def of_documents(folder: Path) -> Iterator[Any]:
    index = neardup.DocumentIndex.create(folder / "index")
    index.add(GOOD)
    yield index.search(ROWS, limit=1, **grouped(**SKIP, **WHERE))


def of_sketches(_: Path) -> Iterator[Any]:
    for kind in ("smallest", "minhash", "edit"):
        yield neardup.sketch(ROWS, **grouped(kind=kind, **SKIP))
    yield neardup.sketch(GOOD, **grouped(kind="smallest", **WHERE))


def of_estimates(_: Path) -> Iterator[Any]:
    sketches = neardup.sketch(GOOD, kind="minhash")
    yield neardup.estimate(sketches, sketches, super_shingles=1)
    yield neardup.estimate(neardup.sketch(GOOD, kind="smallest"), threshold=0.5)


def of_clusters(_: Path) -> Iterator[Any]:
    yield neardup.cluster_sketches(neardup.sketch(GOOD, kind="smallest"))


def of_compare(_: Path) -> Iterator[Any]:
    yield neardup.compare(TEXTS[0], TEXTS[1])


CASES = {
    DedupSummary: of_dedup,
    PairSummary: of_pairs,
    CutSummary: of_cut,
    PassageSummary: of_passages,
    DocumentSearchSummary: of_documents,
    SketchSummary: of_sketches,
    EstimateSummary: of_estimates,
    ClusterSummary: of_clusters,
    CompareSummary: of_compare,
}


def check_keys(values: Any, record: Any) -> None:
    """Check that a record, and all within it, has no key that its type lacks."""
    for part in typing.get_args(record):
        if isinstance(values, list) and typing.get_origin(record) is list:
            for value in values:
                check_keys(value, part)
        elif isinstance(values, dict):
            check_keys(values, part)
    if typing.is_typeddict(record) and isinstance(values, dict):
        known = typing.get_type_hints(record)
        assert values.keys() - known.keys() == set(), record.__name__
        for name, value in values.items():
            check_keys(value, known[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::neardup.errors.NeardupHint")
@pytest.mark.parametrize("record", CASES)
def test_summary__is_as_its_type_says(record: type, tmp_path: Path) -> None:
    for result in CASES[record](tmp_path):
        msgspec.convert(result.summary, record)
        check_keys(result.summary, record)
