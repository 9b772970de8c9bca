"""Alignment within one collection, and cuts, of made-up text: ``within.py align|rewording|cut``.

Prints processor and wall-clock seconds, the peak of the whole process's memory, and what was found,
as JSON. Words are drawn by Zipf's law; a tenth of the documents has a passage of another one, of
which some words were changed. ``align`` and ``cut`` take a file of one's own besides: ``within.py
cut FILE``, with ``--exact`` for equal passages, and a budget: ``--memory 1GB``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import neardup
from neardup.runs.runner import peak_memory_bytes

N_WORDS = 30_000


def make_texts(n_documents: int, n_words: int, seed: int = 1) -> list[str]:
    """Make documents of so many words."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, N_WORDS + 1)
    shares /= shares.sum()
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(3, 9, N_WORDS)]
    documents = rng.choice(N_WORDS, (n_documents, n_words), p=shares)
    for _ in range(n_documents // 10):
        source, target = rng.integers(0, n_documents, 2)
        size = int(rng.integers(60, 120))
        start, place = rng.integers(0, n_words - size, 2)
        part = documents[source, start : start + size].copy()
        changed = rng.random(size) < 0.08
        part[changed] = rng.integers(0, N_WORDS, int(changed.sum()))
        documents[target, place : place + size] = part
    return [" ".join(words[word] for word in document) for document in documents.tolist()]


def measure(
    kind: str,
    file: Path | None,
    n_documents: int,
    workers: int | None,
    memory: str | None,
    *,
    exact: bool,
) -> dict[str, Any]:
    """Run one job and time it; kernels are compiled before."""
    texts = make_texts(500, 600, 2) if kind == "rewording" else make_texts(n_documents, 300)
    options: dict[str, Any] = {"workers": workers, "memory": memory}
    if kind == "rewording":
        options |= {"threshold": "0.3", "min_tokens": 20, "idf": "smooth"}
    if kind == "cut":
        options |= {"exact": exact}
    job = neardup.cut if kind == "cut" else neardup.align
    job(texts[:50], **options)
    wall, processor = time.perf_counter(), time.process_time()
    result = job(file or texts, **options)
    return {
        "seconds": time.perf_counter() - wall,
        "processor_seconds": time.process_time() - processor,
        "peak_memory_bytes": peak_memory_bytes(),
        "found": result.headline(),
    }


def main() -> None:
    """Measure one job."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=["align", "rewording", "cut"])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--memory")
    options = parser.parse_args()
    found = measure(
        options.kind,
        options.file,
        options.documents,
        options.workers,
        options.memory,
        exact=options.exact,
    )
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
