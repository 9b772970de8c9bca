"""Passes over the texts of a corpus, timed inside one process."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpora.texts import read_texts
from benchmarks.measuring.clocks import Seconds
from neardup.tables import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

# Goes through the texts once; returns seconds by the name of what they were for.
Work = Callable[[Texts], Seconds]


def report_passes(
    description: str, make_works: Callable[[Texts], Sequence[Work]], passes: int, **facts: object
) -> None:
    """Time works over the corpus that the command line names; print seconds of all passes as JSON.

    Parameters
    ----------
    description
        What the command does, for its help.
    make_works
        Returns what is timed, one after another, and each once before to warm up.
    passes
        How many there are of each, by default.
    facts
        What else is reported.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--passes", type=int, default=passes)
    options = parser.parse_args()
    texts = read_texts(options.corpus)
    measured: defaultdict[str, list[float]] = defaultdict(list)
    for work in make_works(texts):
        work(texts)
        for _ in range(options.passes):
            for name, seconds in work(texts).items():
                measured[name].append(round(seconds, 6))
    report = {
        "documents": len(texts),
        "text_bytes": int(texts.offsets[-1] - texts.offsets[0]),
        "passes": options.passes,
        **facts,
        "seconds": measured,
    }
    sys.stdout.write(json.dumps(report) + "\n")
