"""What changes between the first and the second time that it is read is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import ReadError
from neardup.reading.second_pass import parts_again
from neardup.tables import Texts
from tests.each import each_of

TEXTS = ["a b c d e f g h", "A b c d e f g h i", "j k"]
LONGER = "a b c d e f g h i j"

# What the second pass makes of texts, by a job that needs it.
JOBS = {
    "sets": partial(neardup.deduplicate, ngram=2, threshold="0.5"),
    "weighted sets": partial(
        neardup.deduplicate, measure="weighted-jaccard", idf="unary", threshold="0.5"
    ),
    "sets of pairs": partial(
        neardup.find_pairs, ngram=2, threshold="0.5", method="minhash", recall=0.9999
    ),
}
jobs = pytest.mark.parametrize("job", JOBS)


def write(path: Path, texts: list[str | None]) -> None:
    """Put a new file in the place of one, which may still be open."""
    part = path.with_suffix(".part")
    # A file of another size has other rows, in whatever places.
    part.write_text("".join(json.dumps({"text": text}).ljust(60) + "\n" for text in texts))
    part.replace(path)


def changed_once_read(path: Path, texts: list[str | None]) -> Callable[..., None]:
    """Return a report of progress that changes a file when it was read for the first time."""

    def report(stage: str, done: int, total: int | None) -> None:
        if stage == "read":
            write(path, texts)

    return report


def run(job: str, path: Path, later: list[str | None], **options: object) -> None:
    write(path, TEXTS)
    JOBS[job](path, progress=changed_once_read(path, later), **options)


@jobs
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    "later",
    [
        [LONGER, *TEXTS[1:]],
        [TEXTS[0], LONGER, TEXTS[2]],
    ],
)
def test_second_pass__a_longer_text(tmp_path, job, later, workers):
    """It would be written where the next one is, or behind the last."""
    run(job, tmp_path / "a.jsonl", TEXTS, workers=workers)
    with pytest.raises(neardup.ReadError, match="a text has changed since it was first read; run"):
        run(job, tmp_path / "a.jsonl", later, workers=workers)


@each_of("job", ["sets", "sets of pairs"])
@each_of(
    ("later", "options"),
    [
        (["", *TEXTS[1:]], {}),
        ([TEXTS[0], "", TEXTS[2]], {}),
        ([TEXTS[0], None, TEXTS[2]], {"on_error": "skip"}),
    ],
)
def test_second_pass__a_text_that_is_gone(tmp_path, job, later, options):
    """Nobody is ready for empty ones, of which there were none."""
    with pytest.raises(neardup.ReadError, match="a text has changed since it was first read; run"):
        run(job, tmp_path / "a.jsonl", later, **options)


@jobs
@pytest.mark.parametrize("later", [TEXTS[:-1], [*TEXTS, "more"], []])
def test_second_pass__other_rows(tmp_path, job, later):
    with pytest.raises(neardup.ReadError, match="the file has changed since it was first read; ru"):
        run(job, tmp_path / "a.jsonl", later)


@each_of(
    "options",
    [{"ngram": 2, "threshold": "0.5"}, {"max_distance": 3}, {"measure": "weighted-jaccard"}],
)
def test_find_pairs__reads_once(tmp_path, options):
    """Of the exact join all is in memory by then."""
    path = tmp_path / "a.jsonl"
    write(path, TEXTS)
    expected = neardup.find_pairs(path, **options)
    report = changed_once_read(path, ["x"])
    found = neardup.find_pairs(path, **options, progress=report)
    assert found.pairs.to_pylist() == expected.pairs.to_pylist()
    assert json.loads(path.read_text()) == {"text": "x"}


def arrays(*lists):
    return [np.array(each, np.int64) for each in lists]


def test_parts_again():
    texts = Texts.from_arrow(pa.array(["", "ab\nçd", "", "é"]).slice(1))
    parts = parts_again(texts, *arrays([0, 0, 2], [0, 3, 0], [2, 6, 2]), "a file")
    assert parts.to_arrow().to_pylist() == ["ab", "çd", "é"]


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 7), (7, 7), (4, 6), (0, 4)],
    ids=["ends behind", "begins behind", "begins within a letter", "ends within a letter"],
)
def test_parts_again__of_another_text(start, stop):
    texts = Texts.from_arrow(pa.array(["ab\nçd", "more"]))
    with pytest.raises(ReadError, match="has changed") as caught:
        parts_again(texts, *arrays([0], [start], [stop]), "a file")
    assert caught.value.path == "a file"
