"""Repeats of a file found in one thread: ``find.py FILE --min-tokens 50 --passes 3``.

Reads JSON lines, then hashes the words, then finds repeats. Prints processor seconds of each as
JSON, the memory that the last takes besides the tokens, and how much of the text goes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpora.texts import make_texts
from benchmarks.measuring.clocks import Memory
from neardup.passages.repeats import find_repeats, sample_windows
from neardup.passages.windows import make_passage_scheme
from neardup.tables import CutSpans, TokenLists

if TYPE_CHECKING:
    from neardup.tables import Int64s, Uint64s

_LINES_AT_A_TIME = 20_000


def read_tokens(path: Path) -> tuple[TokenLists, int, float]:
    """Hash the words of all texts; return bytes of text and the seconds of hashing, too."""
    tokenizer = make_passage_scheme().tokenizer
    parts: list[Uint64s] = []
    sizes = []
    n_bytes, seconds = 0, 0.0

    def hash_block(block: list[str]) -> None:
        nonlocal n_bytes, seconds
        texts = make_texts(block)
        n_bytes += int(texts.offsets[-1])
        start = time.process_time()
        tokens = tokenizer.hash_tokens(texts)
        seconds += time.process_time() - start
        parts.append(tokens.values.copy())
        sizes.append(np.diff(tokens.offsets))

    block: list[str] = []
    hash_block(["to warm up"])
    n_bytes, seconds = 0, 0.0
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            block.append(json.loads(line)["text"])
            if len(block) == _LINES_AT_A_TIME:
                hash_block(block)
                block = []
    hash_block(block)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))])
    return TokenLists(np.concatenate(parts), offsets), n_bytes, seconds


def repeats_of(tokens: TokenLists, min_tokens: int, min_documents: int) -> CutSpans:
    """Find the repeats of documents in their order, from their samples on."""
    samples = sample_windows(tokens, min_tokens)
    sizes = np.diff(tokens.offsets)

    def read(documents: Int64s) -> TokenLists:
        is_read = np.zeros(len(tokens), np.bool_)
        is_read[documents] = True
        offsets = np.concatenate([[0], np.cumsum(sizes[documents])]).astype(np.int64)
        return TokenLists(tokens.values[np.repeat(is_read, sizes)], offsets)

    order = np.arange(len(tokens))
    return find_repeats(lambda look: [look(samples)], read, order, min_tokens, min_documents)


def main() -> None:
    """Find repeats, several times."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--min-tokens", type=int, default=50)
    parser.add_argument("--min-documents", type=int, default=2)
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    tokens, n_bytes, hashing = read_tokens(options.file)
    first = TokenLists(tokens.values, tokens.offsets[:2])
    repeats_of(first, options.min_tokens, options.min_documents)
    seconds, added = [], None
    for _ in range(options.passes):
        memory = Memory()
        start = time.process_time()
        found = repeats_of(tokens, options.min_tokens, options.min_documents)
        seconds.append(round(time.process_time() - start, 3))
        added = memory.report()["added"]
    report = {
        "bytes": n_bytes,
        "documents": len(tokens),
        "tokens": len(tokens.values),
        "hashing": round(hashing, 3),
        "seconds": seconds,
        "added": added,
        "rows": len(found),
        "removed": int((found.stops - found.starts).sum()),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
