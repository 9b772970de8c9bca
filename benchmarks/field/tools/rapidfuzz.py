"""RapidFuzz: every text beside every other by edit distance, all cores, nothing missed."""

# /// script
# dependencies = ["rapidfuzz>=3.10", "numpy"]
# [tool.field]
# tasks = ["records", "noise"]
# ///

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz, process

# Records have words in another order; similarities in percent.
SCORERS = {"records": (fuzz.token_sort_ratio, 75), "noise": (fuzz.ratio, 80)}
BLOCK = 500


def main(task: str, source: str, target: str) -> None:
    """Write the answer to a task."""
    with Path(source).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    ids, texts = [row["id"] for row in rows], [row["text"].casefold() for row in rows]
    scorer, least = SCORERS[task]
    with Path(target).open("w", encoding="utf-8") as out:
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            # Each pair once, but for those within the block.
            scores = process.cdist(
                block, texts[start:], scorer=scorer, score_cutoff=least, dtype=np.uint8, workers=-1
            )
            for first, second in np.argwhere(scores).tolist():
                if first < second:
                    pair = {"a": ids[start + first], "b": ids[start + second]}
                    out.write(json.dumps(pair) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
