"""Writes queries that are like documents: ``documents/queries.py COLLECTION QUERIES``.

Documents from all of a collection, in each of which one word of a hundred is exchanged for another
document's. Their ids are those of the documents.
"""

from __future__ import annotations

import argparse
import json
import random
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EXCHANGED_OF = 100
SEED = 1


def draw_lines(path: Path, number: int, rng: random.Random) -> Iterator[bytes]:
    """Yield lines of a file that begin behind places drawn at random."""
    size = path.stat().st_size
    with path.open("rb") as lines:
        while number:
            lines.seek(rng.randrange(size))
            lines.readline()
            if line := lines.readline():
                yield line
                number -= 1


def exchange(words: list[str], others: list[str], rng: random.Random) -> list[str]:
    """Return words some of which are others."""
    changed = list(words)
    for place in rng.sample(range(len(words)), max(1, len(words) // EXCHANGED_OF)):
        changed[place] = rng.choice(others)
    return changed


def write_queries(source: Path, target: Path, number: int) -> None:
    """Write so many queries."""
    rng = random.Random(SEED)
    rows = map(json.loads, draw_lines(source, number + 1, rng))
    others = next(rows)["text"].split(" ")
    with target.open("w", encoding="utf-8", newline="\n") as queries:
        for row in islice(rows, number):
            words = row["text"].split(" ")
            text = " ".join(exchange(words, others, rng))
            queries.write(json.dumps({"id": row["id"], "text": text}, ensure_ascii=False) + "\n")
            others = words


def main() -> None:
    """Write queries."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--number", type=int, default=2000)
    options = parser.parse_args()
    write_queries(options.source, options.target, options.number)


if __name__ == "__main__":
    main()
