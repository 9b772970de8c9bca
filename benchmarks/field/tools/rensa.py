"""rensa: R-MinHash of full sets of shingles, and its index; candidates held to the estimate."""

# /// script
# dependencies = ["rensa>=0.5,<0.6"]
# [tool.field]
# tasks = ["documents", "cleaning", "records", "noise"]
# ///

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rensa import RMinHash, RMinHashLSH

N_PERMUTATIONS = 128
# Bands of 8 and of 4 rows: a pair at the threshold shares one with probability 0.95 and 0.87.
N_BANDS = {"documents": 16, "cleaning": 16, "records": 32, "noise": 32}


def shingles(text: str, task: str) -> list[str]:
    """Cut a text: five words, or four characters where words are misspelt."""
    if task in ("records", "noise"):
        text = " ".join(text.casefold().split())
        return [text[start : start + 4] for start in range(max(1, len(text) - 3))]
    words = re.findall(r"\w+", text.casefold())
    return [" ".join(words[start : start + 5]) for start in range(max(1, len(words) - 4))]


def answer(task: str, source: str) -> Iterator[dict[str, str]]:
    """Yield the rows of an answer."""
    with Path(source).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    ids = [row["id"] for row in rows]
    sets = [shingles(row["text"], task) for row in rows]
    sketches = RMinHash.from_token_sets(sets, num_perm=N_PERMUTATIONS, seed=42)
    threshold = 0.5 if task in ("records", "noise") else 0.8
    index = RMinHashLSH(threshold=threshold, num_perm=N_PERMUTATIONS, num_bands=N_BANDS[task])
    for number, (name, sketch) in enumerate(zip(ids, sketches, strict=True)):
        similar = [n for n in index.query(sketch) if sketches[n].jaccard(sketch) >= threshold]
        if task != "cleaning":
            yield from ({"a": ids[other], "b": name} for other in similar)
        elif similar:
            yield {"removed": name}
            continue
        index.insert(number, sketch)


def main(task: str, source: str, target: str) -> None:
    """Write the answer to a task."""
    with Path(target).open("w", encoding="utf-8") as out:
        for row in answer(task, source):
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
