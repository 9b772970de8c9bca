"""Collections of files with known shapes: copies, near copies, empty texts, bad rows."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("lm", "rt", "n", "st", "x")]


def make_rows(n: int, seed: int) -> list[dict[str, Any]]:
    """Make documents, of which half are copies of earlier ones, most of these with changes."""
    draw = random.Random(seed)
    texts: list[list[str]] = []
    for _ in range(n):
        if texts and draw.random() < 0.5:
            # Chains of versions, too, because a copy may be of a copy.
            words = list(draw.choice(texts[-200:]))
            for _ in range(draw.choice([0, 0, 1, 2, 6, 15])):
                if words:
                    words[draw.randrange(len(words))] = draw.choice(_WORDS)
        else:
            words = draw.choices(_WORDS, k=draw.choice([0, 3, 30, 80, 150]))
        texts.append(words)
    return [
        {
            "id": f"{seed}-{number}",
            "text": " ".join(words),
            "score": draw.randrange(50),
            "origin": draw.choice(["web", "book", "mail"]),
        }
        for number, words in enumerate(texts)
    ]


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as JSON lines, compressed if the name says so."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def make_collection(folder: Path) -> Path:
    """Write a collection to ``folder/own`` and another one to ``folder/other``."""
    own, other = folder / "own", folder / "other"
    own.mkdir()
    other.mkdir()
    rows = make_rows(1500, 1)
    write_jsonl(own / "a.jsonl", rows[:600])
    write_jsonl(own / "b.jsonl.gz", rows[600:900])
    with (own / "c.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows[900:1100])
    pq.write_table(pa.Table.from_pylist(rows[1100:1300]), own / "d.parquet", row_group_size=70)
    for number, row in enumerate(rows[1300:]):
        write_jsonl(own / f"e{number:03d}.jsonl", [row])
    more = make_rows(200, 2) + [{**row, "id": f"x-{row['id']}"} for row in rows[::40]]
    write_jsonl(other / "other.jsonl", more)
    return folder
