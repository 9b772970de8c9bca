"""A program as users write them: checked for its types, and run, where only the wheel is.

It uses every name of the package, and gives the type of each result.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, assert_type

import neardup
from neardup import types

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
        keep="longest",
        text=neardup.TextOptions(tokenizer=split, ngram=2, casefold=True),
        run=neardup.RunOptions(workers=2, progress=show),
    )
    assert_type(result, neardup.types.DeduplicationResult)
    assert_type(result.summary, dict[str, Any])
    assert_type(result.headline(), str)
    assert_type(result.write(folder / "clean", overwrite=True), None)
    # Arrow's own tables have no types.
    tables: list[Any] = [result.removed, result.kept]  # pyright: ignore[reportUnknownMemberType]
    assert sum(map(len, tables)) == len(TEXTS)
    result.explain("2")
    assert_type(result.report().html, str)


def find_pairs(folder: Path) -> None:
    pairs = neardup.find_pairs(TEXTS, TEXTS[1:], measure="dice", threshold=Fraction(4, 5), top=2)
    assert_type(pairs, neardup.types.PairResult)
    assert_type(len(pairs), int)
    pairs.write(folder / "pairs.csv")
    page = neardup.report(pairs, TEXTS)
    assert_type(page, types.Report)
    page.write(folder / "pairs.html")


def judge_pairs() -> None:
    pairs = neardup.find_pairs(TEXTS, threshold=0.5, text=neardup.TextOptions(ngram=2))
    assert_type(neardup.review(pairs, TEXTS), types.Report)


def share_options() -> None:
    """Say once how texts are cut, read and run, for several calls."""
    text = neardup.TextOptions(tokenizer=split, ngram=2, casefold=True, occurrences="numbered")
    assert_type(text.but(ngram=1), neardup.TextOptions)
    assert_type(text.ngram, int | None)
    read = neardup.ReadOptions(text_column=["title", "text"], on_error="skip")
    run = neardup.RunOptions(workers=2, memory="1GB", progress=show)
    rows = [{"title": "Cats", "text": text, "n": n} for n, text in enumerate(TEXTS)]
    result = neardup.deduplicate(rows, threshold=0.8, text=text, read=read, run=run)
    assert_type(result, neardup.types.DeduplicationResult)
    assert result.summary["documents_in"] == len(TEXTS)
    assert_type(neardup.similarity(*TEXTS[:2], text=text.but(occurrences="set")), float)


def find_one() -> None:
    assert_type(neardup.similarity("Miller", "Müller", measure="edit"), float)
    best = neardup.extract("Mueller", {"a": "Miller", "b": "Muller"}, limit=1, measure="edit")
    assert_type(best, list[neardup.types.Extracted])
    text, similarity, _ = best[0]
    assert_type((text, similarity), tuple[str, float])


def compare_two(folder: Path) -> None:
    result = neardup.compare(TEXTS[0], TEXTS[2], text=neardup.TextOptions(ngram=2))
    assert_type(result, neardup.types.CompareResult)
    assert_type(result["jaccard"], float | None)
    assert_type([passage.a for passage in result.passages], list[tuple[int, int]])
    assert_type(result.report().html, str)
    assert_type(result.to_dict(), dict[str, Any])
    result.write(str(folder / "page.html"))


def search(folder: Path) -> None:
    index = neardup.PassageIndex.create(
        folder / "index", min_tokens=3, text=neardup.TextOptions(tf="binary")
    )
    assert_type(index, neardup.PassageIndex)
    added = index.add(TEXTS)
    assert_type(added, types.AdditionResult)
    assert_type(added.n_documents, int)
    assert_type(len(index), int)
    found = index.search("the cat sat on the mat", "0.6")
    assert_type(found, neardup.types.PassageResult)
    assert len(found) == 2
    assert_type(neardup.align(["cat sat on the mat"], index), neardup.types.PassageResult)
    assert_type(index.remove(["0"]), types.RemovalResult)
    assert_type(index.compact(), types.CompactionResult)
    opened = neardup.open_index(folder / "index")
    assert isinstance(opened, neardup.PassageIndex)
    kept = neardup.cut(TEXTS, against=TEXTS[:1], min_tokens=3)
    assert_type(kept, neardup.types.CutResult)


def keep_documents(folder: Path) -> None:
    index = neardup.DocumentIndex.create(
        folder / "documents", threshold="0.5", text=neardup.TextOptions(ngram=1)
    )
    index.add({"id": number, "text": text} for number, text in enumerate(TEXTS))
    index.insert("new", "a bird")
    assert_type(index.commit(), int)
    assert_type(index.query("the cat sat on a mat", limit=1), types.Matches)
    found = index.search(TEXTS)
    assert_type(found, neardup.types.DocumentSearchResult)
    assert_type(neardup.deduplicate(TEXTS, against=index), neardup.types.DeduplicationResult)


def ask(url: str) -> types.RemoteIndex:
    return neardup.connect(url, "essays")


def sketch(folder: Path) -> None:
    sketches = neardup.sketch(TEXTS, kind="smallest", size=16, text=neardup.TextOptions(ngram=2))
    assert_type(sketches, neardup.Sketches)
    sketches.write(folder / "sketches.parquet")
    again = neardup.Sketches.read(folder / "sketches.parquet")
    assert_type(again, neardup.Sketches)
    estimates = neardup.estimate(sketches, again, threshold=0.9)
    assert_type(estimates, neardup.types.EstimateResult)
    assert_type(neardup.cluster_sketches(again, "0.5"), neardup.types.ClusterResult)


def choose_bands() -> None:
    banding = neardup.choose_banding(0.8, "0.99", num_perm=128)
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
    assert issubclass(neardup.errors.NeardupHint, UserWarning)
    errors: list[type[neardup.NeardupError]] = [
        neardup.errors.DeniedError,
        neardup.EngineError,
        neardup.IndexFormatError,
        neardup.errors.IndexLockedError,
        neardup.InvalidInputError,
        neardup.MissingExtraError,
        neardup.OutputExistsError,
        neardup.ReadError,
        neardup.errors.ResultLimitError,
        neardup.ServiceError,
        neardup.errors.SketchFormatError,
        neardup.SketchMismatchError,
        neardup.WriteError,
    ]
    assert len(set(errors)) == len(errors)


def take_data(data: types.Data, threshold: float) -> int:
    """Return the number of documents of data that a caller chooses."""
    n_documents: int = neardup.deduplicate(data, threshold=threshold).summary["documents_in"]
    return n_documents


def main() -> int:
    parts: list[Callable[[Path], None]] = [
        remove_duplicates,
        find_pairs,
        compare_two,
        search,
        keep_documents,
        sketch,
    ]
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            part(Path(folder))
    find_one()
    judge_pairs()
    share_options()
    choose_bands()
    make_errors()
    assert take_data(TEXTS, 0.8) == len(TEXTS)
    assert_type(neardup.__version__, str)
    return 0


if __name__ == "__main__":
    sys.exit(main())
