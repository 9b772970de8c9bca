"""Near-copies of one text, all similar to each other: the hard case of deduplication.

``python -m benchmarks.corpora.near_copies 10000`` writes them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator

from benchmarks.corpora.documents import Document, prepare, write_lines
from benchmarks.corpora.packaged import CORPORA
from benchmarks.measuring.environments import cache_folder

NGRAM = 5
DEFAULT_SIMILARITY = 0.8
DEFAULT_TEMPLATE = "licenses/apache-1.1.LICENSE"

find_words = re.compile(r"\w+").finditer


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return the set of five consecutive casefolded words each; short texts have one shingle."""
    words = [match.group() for match in find_words(text.casefold())]
    if len(words) < NGRAM:
        return frozenset([tuple(words)])
    return frozenset(zip(*(words[start:] for start in range(NGRAM)), strict=False))


def most_changes(template: str, similarity: float) -> int:
    """Return how many words a copy may change so that any two copies stay similar.

    One changed word removes at most five of the template's S shingles and adds at most five, so
    two copies with c changes each share at least S - 10c shingles and have at most S + 10c
    together: (S - 10c) / (S + 10c) >= t holds for c <= S (1 - t) / (10 (1 + t)).
    """
    n_shingles = len(shingles(template))
    return int(n_shingles * (1 - similarity) / (2 * NGRAM * (1 + similarity)) + 1e-9)


def near_copies(
    template: str, count: int, *, similarity: float = DEFAULT_SIMILARITY, seed: int = 1
) -> Iterator[Document]:
    """Yield different copies of a text, a few random words exchanged for others of its words."""
    limit = most_changes(template, similarity)
    if limit < 2:
        message = f"the template is too short for copies with similarity {similarity}"
        raise ValueError(message)
    spans = [match.span() for match in find_words(template)]
    vocabulary = sorted({template[start:stop] for start, stop in spans})
    chance = random.Random(seed)
    made: set[str] = set()
    while len(made) < count:
        pieces, done = [], 0
        chosen = chance.sample(range(len(spans)), chance.randint(1, limit))
        for start, stop in (spans[word] for word in sorted(chosen)):
            pieces += [template[done:start], chance.choice(vocabulary)]
            done = stop
        copy = "".join(pieces) + template[done:]
        if copy not in made:
            yield f"copy-{len(made):06d}", copy
            made.add(copy)


def default_template() -> str:
    """Return the text of a licence of about 350 words from the corpus of licences."""
    with prepare("licences", CORPORA["licences"]).open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["id"] == DEFAULT_TEMPLATE:
                text: str = record["text"]
                return text
    message = f"{DEFAULT_TEMPLATE} is not in the corpus of licences"
    raise LookupError(message)


def main() -> None:
    """Write near-copies unless they exist, and print their path."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("count", type=int)
    count = parser.parse_args().count
    path = cache_folder() / f"templates-{count}.jsonl"
    if not path.exists():
        write_lines(path, near_copies(default_template(), count))
    print(path)


if __name__ == "__main__":
    main()
