"""One table of the jobs that take collections of any size, for every way of running them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neardup
from tests.spilling import write_lines

# What a summary says of the run, not of the answer.
_OF_THE_RUN = {"seconds", "peak_memory_bytes", "workers", "digest", "engine"}


@dataclass(frozen=True)
class Job:
    """A command but for its output, and how it may be run beside in memory.

    ``writes_files`` says whether it puts anything into files on its way, ``keeps_tasks`` whether
    what is done before a stop is not done again, ``on_spark`` whether it has ``--engine spark``.
    ``output`` is the name of what it writes.
    """

    command: str
    writes_files: bool = True
    keeps_tasks: bool = True
    on_spark: bool = False
    output: str = "out"

    def arguments(self, output: Path) -> list[str]:
        """Return the command with an output, which lies in a folder of its own."""
        return [*self.command.split(), "-o", str(output / self.output)]


JOBS: dict[str, Job] = {
    "dedup": Job("dedup a.jsonl --threshold 0.7 --ngram 1", on_spark=True),
    "dedup, longest": Job(
        "dedup a.jsonl --keep longest --measure weighted-jaccard --idf smooth --ngram 1",
        on_spark=True,
    ),
    "dedup, where": Job("dedup a.jsonl --where score>1 --ngram 1", on_spark=True),
    "dedup, against": Job("dedup a.jsonl --against b.jsonl --ngram 1", on_spark=True),
    "dedup, index": Job("dedup a.jsonl --against idx --keep longest", on_spark=True),
    "dedup, components": Job(
        "dedup a.jsonl --clusters components --keep max:score --measure max-containment --ngram 1"
    ),
    "dedup, contained": Job(
        "dedup a.jsonl --against b.jsonl --measure containment --threshold 0.5 --ngram 1"
    ),
    "pairs, minhash": Job(
        "pairs a.jsonl --method minhash --threshold 0.6 --ngram 1",
        on_spark=True,
        output="pairs.csv",
    ),
    "pairs": Job("pairs a.jsonl --threshold 0.6", on_spark=True, output="pairs.csv"),
    "pairs, two": Job("pairs a.jsonl b.jsonl --threshold 0.5", on_spark=True, output="pairs.csv"),
    "pairs, edits": Job("pairs a.jsonl --max-distance 9", on_spark=True, output="pairs.csv"),
    "pairs, top": Job("pairs a.jsonl --top 20", on_spark=True, output="pairs.csv"),
    "pairs, blocking": Job(
        "pairs a.jsonl --threshold 0.4 --blocking score", on_spark=True, output="pairs.csv"
    ),
    "pairs, columns": Job(
        "pairs a.jsonl --threshold 0.3 --columns score,text --one-to-one",
        output="pairs.csv",
    ),
    "pairs, index": Job(
        "pairs a.jsonl --against idx --threshold 0.2",
        keeps_tasks=False,
        on_spark=True,
        output="pairs.csv",
    ),
    "cut, lines": Job("cut a.jsonl --exact --unit lines", on_spark=True),
    "cut, some lines": Job(
        "cut a.jsonl --exact --unit lines --keep max:score --min-documents 3 --replacement …"
    ),
    "cut, paragraphs": Job("cut a.jsonl --unit paragraphs --against b.jsonl", on_spark=True),
    "cut, equal": Job("cut a.jsonl --exact --min-tokens 6", on_spark=True),
    "cut, equal against": Job(
        "cut a.jsonl --exact --min-tokens 6 --against b.jsonl --keep first", on_spark=True
    ),
    "cut, bytes": Job("cut a.jsonl --exact --tokenizer bytes --min-tokens 21 --min-documents 3"),
    "cut, similar": Job(
        "cut a.jsonl --min-tokens 8 --threshold 0.7", keeps_tasks=False, on_spark=True
    ),
    "cut, some similar": Job(
        "cut a.jsonl --min-tokens 8 --threshold 0.7 --keep longest --min-documents 3",
        keeps_tasks=False,
    ),
    "cut, similar against": Job(
        "cut a.jsonl --min-tokens 8 --threshold 0.7 --against b.jsonl",
        keeps_tasks=False,
        on_spark=True,
    ),
    "align": Job(
        "align a.jsonl --min-tokens 8", keeps_tasks=False, on_spark=True, output="found.jsonl"
    ),
    "align, against": Job(
        "align a.jsonl --against b.jsonl --min-tokens 8 --max-documents 9",
        keeps_tasks=False,
        on_spark=True,
        output="found.jsonl",
    ),
    "align, index": Job(
        "align a.jsonl --against passages", keeps_tasks=False, on_spark=True, output="found.jsonl"
    ),
    "search, passages": Job(
        "search passages a.jsonl --threshold 0.1 --recall 1",
        keeps_tasks=False,
        on_spark=True,
        output="found.jsonl",
    ),
    "search, documents": Job(
        "search idx a.jsonl --limit 3",
        writes_files=False,
        keeps_tasks=False,
        on_spark=True,
        output="found.csv",
    ),
}


def write_collections(folder: Path) -> None:
    """Write ``a.jsonl`` and ``b.jsonl``: texts of lines that others have, too, some of them nearly.

    They share no text beyond that. ``idx`` and ``passages`` are indexes of those of ``b.jsonl``.
    """
    draw = random.Random(1)
    words = [f"w{number}é" for number in range(300)]
    shared = [draw.choices(words, k=9) for _ in range(20)]
    for name, n in (("a", 50), ("b", 12)):
        rows: list[dict[str, Any]] = []
        for number in range(n):
            lines = []
            for _ in range(draw.choice([0, 1, 3, 6])):
                line = (
                    list(draw.choice(shared)) if draw.random() < 0.6 else draw.choices(words, k=9)
                )
                if draw.random() < 0.3:
                    line[draw.randrange(9)] = draw.choice(words)
                lines.append(" ".join(line))
            text = draw.choice(["\n", "\n\n"]).join(lines)
            if rows and draw.random() < 0.2:
                text = draw.choice(rows)["text"] + draw.choice(["", " one more"])
            rows.append({"id": f"{name}{number}", "text": text, "score": draw.randrange(5)})
        write_lines(folder / f"{name}.jsonl", rows)
    index = neardup.DocumentIndex.create(
        folder / "idx", threshold="0.2", text=neardup.TextOptions(ngram=1)
    )
    index.add(str(folder / "b.jsonl"))
    passages = neardup.PassageIndex.create(folder / "passages", min_tokens=6, num_perm=16)
    passages.add(str(folder / "b.jsonl"))


def answer_in(folder: Path) -> dict[str, Any]:
    """Return all files below a folder; of summaries, what every run must say alike."""
    found: dict[str, Any] = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    for name in found:
        if name.endswith("summary.json"):
            summary = json.loads(found[name])
            found[name] = {key: value for key, value in summary.items() if key not in _OF_THE_RUN}
    return found
