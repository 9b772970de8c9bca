"""SetSimilaritySearch from file to file: ``setsimilaritysearch_pairs.py FILE 0.6 PAIRS.csv``.

What a program around it does for the job of ``neardup pairs --ngram 1``: JSON lines are read, their
texts cut into words, sets joined by Jaccard similarity, and pairs written as they come.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import orjson
from SetSimilaritySearch import all_pairs

# Words of neardup: of scripts that are written without spaces each character is one.
UNSPACED = r"\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff"
find_words = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+").findall


def main() -> None:
    """Read, join and write."""
    source, threshold, output = sys.argv[1:]
    ids, sets = [], []
    with Path(source).open("rb") as lines:
        for line in lines:
            row = orjson.loads(line)
            ids.append(row["id"])
            sets.append(set(find_words(row["text"].casefold())))
    with Path(output).open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(("id_a", "id_b", "similarity"))
        for first, second, similarity in all_pairs(
            sets, similarity_func_name="jaccard", similarity_threshold=float(threshold)
        ):
            writer.writerow((ids[first], ids[second], similarity))


if __name__ == "__main__":
    main()
