"""Documents decided by made-up pairs: ``python -m benchmarks.dedup.choice --pairs 10000000``.

Pairs are of documents near each other, as versions are. What is timed is `neardup.choose`: ids read
from two Parquet files, pairs read and looked up, and the decision. Prints its seconds as JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from neardup.stages.pair_ids import metadata_of

THRESHOLD = 0.8


def make_pairs(folder: Path, n_documents: int, n_pairs: int) -> tuple[Path, Path]:
    """Write ids of documents, and pairs of them as `neardup pairs` would."""
    generator = np.random.default_rng(1)
    left = np.sort(generator.integers(0, n_documents - 1, n_pairs))
    right = np.minimum(left + generator.geometric(1 / 2000, n_pairs), n_documents - 1)
    ids = pa.array([f"corpus/part-{i % 97:03d}.jsonl:{i}" for i in range(n_documents)])
    table = pa.table(
        {
            "id_a": ids.take(pa.array(left)),
            "id_b": ids.take(pa.array(right)),
            "similarity": generator.random(n_pairs) * (1 - THRESHOLD) + THRESHOLD,
        }
    )
    about = {
        "measure": "jaccard",
        "threshold": THRESHOLD,
        "method": "exact",
        "scheme": {},
        "documents": [n_documents],
        "pairs": n_pairs,
    }
    pairs, documents = folder / "pairs.parquet", folder / "documents.parquet"
    pq.write_table(table.replace_schema_metadata(metadata_of(about)), pairs, compression="zstd")
    pq.write_table(pa.table({"id": ids, "text": ["x"] * n_documents}), documents)
    return pairs, documents


def main() -> None:
    """Decide at the pairs' threshold and at a higher one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs, documents = make_pairs(Path(folder), arguments.documents, arguments.pairs)
        for threshold in (THRESHOLD, 0.9):
            summary = neardup.choose(pairs, documents, threshold=threshold).summary
            names = ("documents_kept", "pairs_at_threshold", "seconds", "peak_memory_bytes")
            print(json.dumps({"threshold": threshold} | {name: summary[name] for name in names}))


if __name__ == "__main__":
    main()
