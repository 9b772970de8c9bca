"""A program as users write them: checked for its types, and run, where only the wheel is."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, assert_type

import neardup

TEXTS = ["the cat sat on the mat today", "a dog", "The cat sat on the mat today!"]


def show(stage: str, done: int, total: int | None) -> None:
    """Take part as a function that is told of progress."""


def split(text: str) -> list[str]:
    """Take part as a tokenizer."""
    return text.split()


def remove_duplicates(folder: Path) -> None:
    result = neardup.deduplicate(
        TEXTS,
        against=["a bird"],
        measure="jaccard",
        threshold=Decimal("0.8"),
        tokenizer=split,
        ngram=2,
        keep="longest",
        casefold=True,
        workers=2,
        progress=show,
    )
    assert_type(result, neardup.DeduplicationResult)
    assert_type(result.summary, dict[str, Any])
    assert_type(result.headline(), str)
    assert_type(result.write(folder / "clean", overwrite=True), None)
    assert len(result.removed) + len(result.kept) == len(TEXTS)
    assert len(result.clusters) == len(TEXTS)


def find_pairs(folder: Path) -> None:
    pairs = neardup.find_pairs(TEXTS, TEXTS[1:], measure="dice", threshold=Fraction(4, 5), top=2)
    assert_type(pairs, neardup.PairResult)
    assert_type(len(pairs), int)
    pairs.write(folder / "pairs.csv")


def compare_two(folder: Path) -> None:
    result = neardup.compare(TEXTS[0], TEXTS[2], ngram=2)
    assert_type(result, neardup.CompareResult)
    assert_type(result["jaccard"].exact, float | None)
    assert_type([passage.a for passage in result.passages], list[tuple[int, int]])
    assert_type(result.html(), str)
    assert_type(result.to_dict(), dict[str, Any])
    result.write(str(folder / "page.html"))


def search(folder: Path) -> None:
    index = neardup.PassageIndex.create(folder / "index", min_tokens=3, tf="binary")
    assert_type(index, neardup.PassageIndex)
    added = index.add(TEXTS)
    assert_type(added.n_documents, int)
    assert_type(len(index), int)
    found = index.search("the cat sat on the mat", "0.6", report="maximal")
    assert_type(found, neardup.PassageResult)
    assert len(found.passages) == len(found) == 2
    assert_type(neardup.align(["cat sat on the mat"], index), neardup.PassageResult)
    assert_type(index.remove(["0"]).n_removed, int)
    assert_type(index.compact().n_segments, int)


def sketch(folder: Path) -> None:
    sketches = neardup.sketch(TEXTS, kind="smallest", size=16, ngram=2)
    assert_type(sketches, neardup.Sketches)
    sketches.write(folder / "sketches.parquet")
    again = neardup.Sketches.read(folder / "sketches.parquet")
    assert_type(again, neardup.Sketches)
    estimates = neardup.estimate(sketches, again, threshold=0.9)
    assert_type(estimates, neardup.EstimateResult)
    assert_type(neardup.cluster_sketches(again, "0.5"), neardup.ClusterResult)


def choose_bands() -> None:
    banding = neardup.choose_banding(Fraction(4, 5), Fraction(99, 100), 128)
    assert_type(banding, neardup.Banding)
    assert_type(banding.bands * banding.rows, int)
    assert_type(banding.candidate_probability(0.8), float)


def make_errors() -> None:
    try:
        neardup.deduplicate(TEXTS, threshold=80)
    except neardup.InvalidParameterError as error:
        assert_type(str(error), str)
    else:
        raise AssertionError
    assert issubclass(neardup.ReadError, OSError)
    assert issubclass(neardup.ReadError, neardup.NeardupError)


def main() -> int:
    parts: list[Callable[[Path], None]] = [
        remove_duplicates,
        find_pairs,
        compare_two,
        search,
        sketch,
    ]
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            part(Path(folder))
    choose_bands()
    make_errors()
    assert_type(neardup.__version__, str)
    return 0


if __name__ == "__main__":
    sys.exit(main())
