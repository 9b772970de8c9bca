"""Section ``weighted``: weighted MinHash signatures, in one thread, beside datasketch.

Run as a script (``weighted.py datasketch --vectors 500``) in the environment of a tool, it prints
the seconds of every pass as JSON. datasketch's ``minhash`` takes one dense vector.
``minhash_many``, which its authors call experimental, takes blocks; blocks of five are the fastest.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.jobs import Settings, own_report, report_of_script

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measuring.results import Tables

VECTORS, QUICK_VECTORS, VOCABULARY, TOKENS, LARGEST = 500, 50, 5_000, 200, 50
SAMPLES, BLOCK, PASSES = 128, 5, 3
UNIT = 1 << 20  # a weight of 1 in neardup's tables
SCRIPT = "peers/weighted.py"


def run(settings: Settings) -> Tables:
    """Time neardup between two runs of datasketch."""
    count = str(QUICK_VECTORS if settings.quick else VECTORS)
    arguments = ("datasketch", "--vectors", count)
    before = report_of_script(settings.peers, SCRIPT, *arguments)
    own = own_report(settings, SCRIPT, "neardup", "--vectors", count)
    after = report_of_script(settings.peers, SCRIPT, *arguments)
    theirs = {name: before["seconds"][name] + after["seconds"][name] for name in before["seconds"]}
    calls = [("neardup", own["seconds"]), ("datasketch", theirs)]
    rates = {
        f"{tool}, `{name}`": int(count) / statistics.median(seconds)
        for tool, each in calls
        for name, seconds in each.items()
    }
    fastest = next(iter(rates.values()))
    rows = [
        {"tool": name, "signatures per second": round(rate), "neardup is faster by": fastest / rate}
        for name, rate in rates.items()
    ]
    return {f"Weighted signatures of {SAMPLES}": rows}


def neardup_calls(elements: Any, counts: Any) -> dict[str, Callable[[], object]]:
    """Return neardup's function, its input prepared."""
    import numpy as np

    from neardup.sketches.minhash import WeightedMinHashScheme, weighted_signatures
    from neardup.tables import WeightedSets

    order, (n, width) = np.argsort(elements, axis=1), elements.shape
    sets = WeightedSets(
        np.take_along_axis(elements, order, 1).astype(np.uint64).reshape(-1),
        np.take_along_axis(counts, order, 1).reshape(-1) * UNIT,
        np.arange(n, dtype=np.int64) * width,
        np.full(n, width, np.int64),
        counts.sum(axis=1) * UNIT,
    )
    scheme = WeightedMinHashScheme(SAMPLES)
    return {"weighted_signatures": lambda: weighted_signatures(sets, scheme)}


def datasketch_calls(elements: Any, counts: Any) -> dict[str, Callable[[], object]]:
    """Return datasketch's functions, their input prepared."""
    import numpy as np
    from datasketch import WeightedMinHashGenerator

    dense = np.zeros((len(elements), VOCABULARY), np.float32)
    np.put_along_axis(dense, elements, counts.astype(np.float32), axis=1)
    generator = WeightedMinHashGenerator(VOCABULARY, SAMPLES)
    blocks = [dense[first : first + BLOCK] for first in range(0, len(dense), BLOCK)]
    return {
        "minhash": lambda: [generator.minhash(vector) for vector in dense],
        "minhash_many": lambda: [generator.minhash_many(block) for block in blocks],
    }


def main() -> None:
    """Time passes over the first vectors."""
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tool", choices=("neardup", "datasketch"))
    parser.add_argument("--vectors", type=int, default=VECTORS)
    options = parser.parse_args()
    # All tokens are equally likely; most counts are small, as counts of words are.
    rng = np.random.default_rng(1)
    drawn = [rng.choice(VOCABULARY, TOKENS, replace=False) for _ in range(options.vectors)]
    elements = np.stack(drawn).astype(np.int64)
    counts = np.minimum(rng.zipf(2.0, elements.shape), LARGEST).astype(np.int64)
    calls = neardup_calls if options.tool == "neardup" else datasketch_calls
    seconds: dict[str, list[float]] = {}
    for name, call in calls(elements, counts).items():
        call()
        for _ in range(PASSES):
            start = time.perf_counter()
            call()
            seconds.setdefault(name, []).append(round(time.perf_counter() - start, 6))
    sys.stdout.write(json.dumps({"vectors": options.vectors, "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
