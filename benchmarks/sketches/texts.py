"""Two collections of short texts, some of the second near-copies of the first.

``python -m benchmarks.sketches.texts 100000`` writes them as JSON lines and prints their facts.
Words are made up, the first ones the most frequent; a copy has a few of its words exchanged.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.corpora.made_up import draw_words
from benchmarks.measuring.environments import cache_folder

VOCABULARY, WORDS = 50_000, 100
SHARE = 0.2
# A changed word takes five shingles of 96 with it: up to 2 leave a similarity of 0.8.
MOST_CHANGES = 4
SEED = 1


def collections(count: int) -> tuple[Path, Path]:
    """Return where the two files are, or are to be."""
    first, second = (cache_folder() / f"sketch-texts-{count}-{name}.jsonl" for name in "ab")
    return first, second


def write(count: int) -> dict[str, int]:
    """Write both files; give the number of texts and of copies."""
    generator = np.random.default_rng(SEED)
    words = draw_words(generator, VOCABULARY)
    first, second = (_draw(generator, count) for _ in range(2))
    copies = np.flatnonzero(generator.random(count) < SHARE)
    for row in copies:
        second[row] = first[row]
        places = generator.choice(WORDS, generator.integers(0, MOST_CHANGES + 1), replace=False)
        second[row, places] = generator.integers(0, VOCABULARY, len(places))
    # Copies stand elsewhere than their originals.
    generator.shuffle(second)
    for path, rows in zip(collections(count), (first, second), strict=True):
        with path.open("w", encoding="utf-8", newline="\n") as lines:
            for number, row in enumerate(rows):
                entry = {"id": f"{path.stem[-1]}{number}", "text": " ".join(words[row])}
                lines.write(json.dumps(entry) + "\n")
    return {"texts": count, "copies": len(copies)}


def _draw(generator: np.random.Generator, count: int) -> np.typing.NDArray[np.int64]:
    """Draw words by rank, the first half of them as often as all others."""
    return (VOCABULARY * generator.random((count, WORDS)) ** 2).astype(np.int64)


def main() -> None:
    """Write the files and print what is in them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="texts in each file")
    sys.stdout.write(json.dumps(write(parser.parse_args().count)) + "\n")


if __name__ == "__main__":
    main()
