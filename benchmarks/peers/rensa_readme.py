"""Near-duplicate removal with rensa as its page shows it: words as they are split, one thread.

No shingles, no verification but by sketches, and no ids: the least work that rensa asks of a user
who wants the documents that stay. ``python -m benchmarks.peers.rensa_readme SOURCE TARGET``.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

import orjson
from rensa import RMinHashDeduplicator

LINES_AT_A_TIME = 1000


def main() -> None:
    """Copy the JSON lines whose texts stay."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args()
    keepers = RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True)
    number = 0
    with given.source.open("rb") as source, given.target.open("wb") as target:
        while lines := list(islice(source, LINES_AT_A_TIME)):
            texts = (orjson.loads(line)["text"].split() for line in lines)
            stays = keepers.add_pairs((str(number + i), words) for i, words in enumerate(texts))
            target.writelines(line for line, is_kept in zip(lines, stays, strict=True) if is_kept)
            number += len(lines)


if __name__ == "__main__":
    main()
