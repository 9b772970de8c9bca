"""What changes between the first and the second time that it is read is noticed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import neardup
from tests.calls import grouped
from tests.each import each_of

TEXTS = ["a b c d e f g h", "A b c d e f g h i", "j k"]
LONGER = "a b c d e f g h i j"

# What the second pass makes of texts, by a job that needs it.
TEXT = {"weighted sets": {"idf": "unary"}}
JOBS = {
    "sets": partial(neardup.deduplicate, threshold="0.5"),
    "weighted sets": partial(neardup.deduplicate, measure="weighted-jaccard", threshold="0.5"),
    "sets of pairs": partial(neardup.find_pairs, threshold="0.5", method="minhash", recall=0.9999),
}
jobs = pytest.mark.parametrize("job", JOBS)


def write(path: Path, texts: list[str | None]) -> None:
    """Put a new file in the place of one, which may still be open."""
    part = path.with_suffix(".part")
    # A file of another size has other rows, in whatever places.
    part.write_text("".join(json.dumps({"text": text}).ljust(60) + "\n" for text in texts))
    # A file of the same size and time seems to be the same.
    os.utime(part, ns=(0, 0))
    part.replace(path)


def changed_once_read(path: Path, texts: list[str | None]) -> Callable[..., None]:
    """Return a report of progress that changes a file when it was read for the first time."""

    def report(stage: str, done: int, total: int | None) -> None:
        if stage == "read":
            write(path, texts)

    return report


def run(job: str, path: Path, later: list[str | None], **options: object) -> None:
    write(path, TEXTS)
    text = TEXT.get(job, {"ngram": 2})
    JOBS[job](path, **grouped(**text, progress=changed_once_read(path, later), **options))


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
    with pytest.raises(neardup.ReadError, match="text has changed"):
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
    with pytest.raises(neardup.ReadError, match="text has changed"):
        run(job, tmp_path / "a.jsonl", later, **options)


@jobs
@pytest.mark.parametrize("later", [TEXTS[:-1], [*TEXTS, "more"], []])
def test_second_pass__other_rows(tmp_path, job, later):
    with pytest.raises(neardup.ReadError, match="file has changed"):
        run(job, tmp_path / "a.jsonl", later)
