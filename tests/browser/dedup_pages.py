"""Pages of deduplications, of texts that are given and of made-up tables of any size."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import neardup
from neardup.jobs.report.dedup import report_of_dedup
from neardup.outputs.table_rows import TableRows
from neardup.reports.dedup.model import Flows, count_clusters
from neardup.reports.dedup.page import DedupData, render_dedup
from neardup.runs.runner import Runner
from neardup.stages.output import open_output
from tests.removed_tables import cluster_rows


def dedup_page(files: dict[str, Sequence[tuple[str, str]]], **options: Any) -> str:
    """Deduplicate files of ids and texts; return the page of the folder."""
    with TemporaryDirectory() as folder, Runner(1, None) as runner:
        paths = []
        for name, rows in files.items():
            paths.append(Path(folder, name))
            lines = [json.dumps({"id": id_, "text": text}) + "\n" for id_, text in rows]
            paths[-1].write_text("".join(lines))
        result = neardup.deduplicate(paths, **({"threshold": "0.5", "ngram": 2} | options))
        result.write(Path(folder, "out"))
        return report_of_dedup(open_output(Path(folder, "out")), runner).html


def large_page(n_removed: int = 200_000, **options: Any) -> str:
    """Make up a table of removed documents that is too large for a page."""
    generator = np.random.default_rng(3)
    keepers = generator.integers(0, 50_000, n_removed)
    copies = generator.random(n_removed) < 0.5
    files = [f"part-{n:02}.jsonl" for n in range(30)]
    removed = pa.table(
        {
            "id": [f"document-{n}" for n in range(n_removed)],
            "kept_id": [f"keeper-{n}" for n in keepers.tolist()],
            "similarity": np.where(copies, 1.0, 0.8 + 0.2 * generator.random(n_removed)),
            "exact_copy": copies,
            "file": pa.array(files).take(pa.array(generator.integers(0, 30, n_removed))),
            "row": np.arange(1, n_removed + 1),
            "kept_in": ["input"] * n_removed,
            "kept_file": pa.array(files).take(pa.array(keepers % 30)),
            "kept_row": keepers + 1,
        }
    )
    summary = {
        "documents_in": 1_000_000,
        "input_files": 2,
        "output_format": "same",
        "documents_kept": 1_000_000 - n_removed,
        "documents_removed": n_removed,
        "exact_copies": int(copies.sum()),
        "threshold": 0.8,
        "measure": "jaccard",
        "keep": "first",
        "clusters": "survivors",
        "method": "exact",
        "scheme": {"tokenizer": "words", "casefold": True, "ngram": 5},
        "versions": {"neardup": "1.0"},
    }
    rows = TableRows.of_table(removed)
    # Some tens of thousands at a time, as they are read: here are very many.
    clusters = count_clusters(rows, cluster_rows(removed, summary["documents_kept"], 1 << 16))
    data = DedupData(summary, rows, clusters, Flows([]), {}, "")
    return render_dedup(data, **options).html


def dedup_cases(
    texts: dict[str, tuple[str, str]], hostile: str, long: str
) -> dict[str, Callable[[], str]]:
    """Return pages of all texts, of one kind and of all, and of odd ids and numbers of texts."""
    everything = [text for pair in texts.values() for text in pair]
    plain = texts["plain"]
    # A name of a file may hold anything but a slash.
    odd = hostile.replace("/", "") + ".jsonl"

    def of(files: dict[str, Sequence[tuple[str, str]]], **options: Any) -> Callable[[], str]:
        return lambda: dedup_page(files, **options)

    def rows(*given: str) -> list[tuple[str, str]]:
        return [(f"document {n}", text) for n, text in enumerate(given)]

    ids = [hostile, long, "文件一", "מסמך", "\x00\u202e", "a", "b"]
    return {
        "dedup of all texts": of(
            {
                "one.jsonl": rows(*everything),
                odd: [(f"other {n}", text) for n, text in enumerate(everything)],
                f"{long[:200]}.jsonl": [("long", f"{plain[0]} {long}")],
                "文件.jsonl": [("chinese", texts["chinese"][0])],
            },
            audit=5,
        ),
        "dedup of odd ids": of(
            {"in.jsonl": [(id_, f"{plain[0]} {n}") for n, id_ in enumerate(ids)]}
        ),
        "dedup into components": of({"in.jsonl": rows(*plain, *plain)}, clusters="components"),
        "dedup without removals": of({"in.jsonl": rows(plain[0], texts["chinese"][0])}),
        "dedup of one document": of({"in.jsonl": rows(plain[0])}),
        "dedup of nothing": of({"in.jsonl": []}),
        "dedup of copies": of({"in.jsonl": rows(*[plain[0]] * 30)}),
        "dedup of very many": lambda: large_page(most_lookup_bytes=20_000),
    }
