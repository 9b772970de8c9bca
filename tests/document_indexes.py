"""A small index of documents whose states are known, for tests of its files; also a writer of it.

The writer is a process that changes an index until it is killed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

from neardup import ReadOptions, RunOptions
from tests.calls import grouped
from tests.oracles import documents as oracle

OPTIONS: dict[str, Any] = {
    "threshold": "0.5",
    "ngram": 1,
    "tokenizer": "whitespace",
    # Every pair of such texts that is similar meets in a band.
    "num_perm": 64,
    "bands": (64, 1),
}
WEIGHTED: dict[str, Any] = OPTIONS | {"measure": "weighted-jaccard", "tf": "raw", "idf": "unary"}
WORDS = [f"w{i}" for i in range(40)]


def text_of(number: int) -> str:
    """Give a text; every third is nearly the one before, every seventh a copy of it.

    Every eleventh has the words of the one before in another order.
    """
    if number % 11 == 10:
        return " ".join(reversed(text_of(number - 1).split()))
    generator = random.Random(number - 1 if number % 3 == 2 or number % 7 == 6 else number)
    words = generator.choices(WORDS, k=20)
    if number % 3 == 2 and number % 7 != 6:
        words[number % 20] = "other"
    return " ".join(words)


QUERIES = [text_of(number) for number in (0, 1, 2, 4, 5, 6, 13, 20, 27, 40, 43)] + ["nothing here"]


@contextmanager
def small_pieces(
    *, fanout: int = 3, memory_bytes: int = 800, block_bytes: int = 300, most_pending: int = 8
):
    """Let few documents be many: for tiers, for lists in files, for blocks and for tails."""
    with (
        patch("neardup.documents.document_handle.FANOUT", fanout),
        patch("neardup.documents.document_handle.MOST_PENDING", most_pending),
        patch("neardup.documents.records.BLOCK_BYTES", block_bytes),
        patch("neardup.documents.document_segment.MEMORY_BYTES", memory_bytes),
    ):
        yield


def new_oracle(measure: str = "jaccard") -> oracle.Index:
    cut = Counter if measure == "weighted-jaccard" else frozenset
    return oracle.Index(measure, Fraction(1, 2), cut)


def change(step: int, index: Any, known: oracle.Index) -> None:
    """Make the change of a step to an index, if there is one, and to its oracle."""
    first = 5 * step
    match step % 5:
        case 0 | 3:
            rows = [{"id": str(n), "text": text_of(n)} for n in range(first, first + 5)]
            for row in rows:
                known.insert(row["id"], row["text"].split())
            if index is not None:
                index.add(rows, read=ReadOptions(id_column="id"), run=RunOptions(workers=1))
        case 1:
            for n in range(first, first + 5):
                found = known.insert_if_new(str(n), text_of(n).split())
                if index is not None:
                    assert index.insert_if_new(str(n), text_of(n)) == found
            if index is not None:
                index.commit()
        case 2:
            ids = known.ids()
            chosen = ids[:: 3 + step % 2] + ids[-1:]
            chosen = list(dict.fromkeys(chosen))
            orphans = known.remove(chosen)
            if index is not None:
                table = index.remove(chosen).orphans
                assert sorted(table["id"].to_pylist()) == sorted(name for name, _ in orphans)
        case _:
            if index is not None:
                index.compact(run=RunOptions(workers=1))


_STATES: dict[str, list[oracle.Index]] = {}


def state(step: int, measure: str = "jaccard") -> oracle.Index:
    """Give what an index holds after so many steps."""
    states = _STATES.setdefault(measure, [new_oracle(measure)])
    while len(states) <= step:
        known = states[-1].copy()
        change(len(states) - 1, None, known)
        states.append(known)
    return states[step]


def found_in(index: Any) -> tuple[Any, ...]:
    """Give all that can be seen of an index: ids, and answers."""
    ids = [row["id"] for row in index.documents(0, 10_000)]
    return ids, [[match.id for match in index.query(text)] for text in QUERIES]


def expected_of(known: oracle.Index) -> tuple[Any, ...]:
    return known.ids(), [[name for name, _ in known.query(text.split())] for text in QUERIES]


def build(folder: Path, n_steps: int, options: dict[str, Any] = OPTIONS) -> oracle.Index:
    """Make an index and change it so many times."""
    from neardup import DocumentIndex

    index = DocumentIndex.create(folder, **grouped(**options))
    for step in range(n_steps):
        change(step, index, state(step, index_measure(options)).copy())
    return state(n_steps, index_measure(options))


def index_measure(options: dict[str, Any]) -> str:
    return str(options.get("measure", "jaccard"))


def tell(told: Path, step: int) -> None:
    """Replace the text as a whole, because the process may be killed here, too."""
    part = told.with_suffix(".part")
    part.write_text(str(step))
    os.replace(part, told)
