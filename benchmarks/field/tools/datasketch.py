"""datasketch: MinHashLSH, candidates held to the estimate; ensembles for containment.

Shingles are five words, or four characters where words are misspelt, hashed by xxHash as the
documentation advises for speed. What goes is decided in the order of the file, against what stays.
"""

# /// script
# dependencies = ["datasketch>=2", "numpy", "xxhash"]
# [tool.field]
# tasks = ["documents", "cleaning", "records", "noise", "containment"]
# ///

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import xxhash
from datasketch import MinHash, MinHashLSH, MinHashLSHEnsemble

N_PERMUTATIONS = 128
# Of shingles: those of tasks with misspelt words are low, as few of their shingles are whole.
THRESHOLDS = {"documents": 0.8, "cleaning": 0.8, "records": 0.5, "noise": 0.5, "containment": 0.6}


def shingles(text: str, task: str) -> set[bytes]:
    """Cut a text."""
    if task in ("records", "noise"):
        text = " ".join(text.casefold().split())
        return {text[start : start + 4].encode() for start in range(max(1, len(text) - 3))}
    words = re.findall(r"\w+", text.casefold())
    return {" ".join(words[start : start + 5]).encode() for start in range(max(1, len(words) - 4))}


def answer(task: str, source: str) -> Iterator[dict[str, str]]:
    """Yield the rows of an answer."""
    with Path(source).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    ids = [row["id"] for row in rows]
    sets = [shingles(row["text"], task) for row in rows]
    sketches = list(
        MinHash.generator(
            sets,
            num_perm=N_PERMUTATIONS,
            seed=1,
            hashfunc=xxhash.xxh32_intdigest,
            scheme="affine32",
        )
    )
    threshold = THRESHOLDS[task]
    if task == "containment":
        ensemble = MinHashLSHEnsemble(threshold=threshold, num_perm=N_PERMUTATIONS, num_part=8)
        sizes = list(map(len, sets))
        ensemble.index(zip(ids, sketches, sizes, strict=True))
        for name, sketch, size in zip(ids, sketches, sizes, strict=True):
            yield from (
                {"a": name, "b": other} for other in ensemble.query(sketch, size) if other != name
            )
        return
    index = MinHashLSH(threshold=threshold, num_perm=N_PERMUTATIONS)
    for number, (name, sketch) in enumerate(zip(ids, sketches, strict=True)):
        similar = [n for n in index.query(sketch) if sketches[n].jaccard(sketch) >= threshold]
        if task != "cleaning":
            yield from ({"a": ids[other], "b": name} for other in similar)
        elif similar:
            yield {"removed": name}
            continue
        index.insert(number, sketch, check_duplication=False)


def main(task: str, source: str, target: str) -> None:
    """Write the answer to a task."""
    with Path(target).open("w", encoding="utf-8") as out:
        for row in answer(task, source):
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
