"""What is measured of an index of documents: a function a part, which returns its figures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.documents.shelf import Shelf, size_of
from benchmarks.measuring.figures import MB
from benchmarks.measuring.jobs import Report, report_of_script
from benchmarks.measuring.processes import Run, combine, run
from benchmarks.peers.environments import PEERS, peer_versions

Figures = dict[str, Any]

DOCUMENTS = 1_000_000
GROWTH = (1_000_000, 3_000_000, 10_000_000)
REPEATS, QUERIES, INSERTIONS = 3, 2000, 40_000
# Documents of the index of the warm-up.
SMALL = 1000
# Similarities that two libraries round differently.
_CLOSE = 1e-9


@dataclass(frozen=True)
class Bench:
    """What is measured with: the Python that has neardup, and how small the collections are."""

    python: Path
    shelf: Shelf
    shrink: int = 1
    most_documents: int | None = None

    @property
    def n_documents(self) -> int:
        """The number of documents of all parts but growth."""
        return DOCUMENTS // self.shrink

    @property
    def n_queries(self) -> int:
        """The number of queries of a kind."""
        return max(200, QUERIES // self.shrink)

    @cached_property
    def peers(self) -> Path:
        """The Python that has the peers."""
        return PEERS.prepare()

    @cached_property
    def warm_up(self) -> Path:
        """An index to run code on before it is timed."""
        return self.shelf.index(SMALL)

    def script(self, name: str, *arguments: object) -> Report:
        """Run a script of this folder with neardup."""
        return report_of_script(self.python, f"documents/{name}.py", *map(str, arguments))

    def look_up(self, n_documents: int) -> Report:
        """Open an index of so many documents, and look queries of both kinds up in it."""
        queries = self.shelf.queries(n_documents, self.n_queries)
        index = self.shelf.index(n_documents)
        return self.script("lookups", index, *queries, "--warm-up", self.warm_up)


def _measured(runs: Sequence[Run]) -> Figures:
    measured = combine(runs)
    return {**measured.as_dict(), "cpus": [round(each.cpu, 3) for each in runs]}


def build(bench: Bench) -> Figures:
    """Building an index of 1,000,000 documents of 1 kB."""
    collection = bench.shelf.collection(bench.n_documents)
    runs = []
    # The first run is not measured.
    for _ in range(REPEATS + 1):
        with bench.shelf.empty() as folder:
            runs.append(bench.shelf.build(bench.n_documents, folder))
            n_bytes = size_of(folder)
    return {
        "documents": bench.n_documents,
        "input_bytes": collection.base.stat().st_size,
        "text_bytes": _text_bytes(collection.base),
        "index_bytes": n_bytes,
        **_measured(runs[1:]),
    }


def _text_bytes(path: Path) -> int:
    with path.open(encoding="utf-8") as lines:
        return sum(len(json.loads(line)["text"].encode()) for line in lines)


def queries(bench: Bench) -> Figures:
    """Texts looked up one by one among 1,000,000 documents, on one core."""
    first = bench.look_up(bench.n_documents)
    peer = _look_up_with_datasketch(bench, bench.n_documents)
    last = bench.look_up(bench.n_documents)
    found = [report.pop("found") for report in (first, peer, last)]
    return {
        "documents": bench.n_documents,
        "neardup": [first, last],
        "datasketch": peer,
        "both": _compare(found[0][0], found[1][0]),
        "peers": peer_versions(bench.peers),
    }


def _look_up_with_datasketch(bench: Bench, n_documents: int) -> Report:
    index = bench.shelf.index(n_documents)
    program = (str(bench.python), "-m", "neardup", "index", "info", str(index), "--json")
    scheme = json.loads(run(program).output)["scheme"]
    options = [f"--{name}={scheme[name]}" for name in ("bands", "rows")]
    options.append(f"--threshold={float(Fraction(scheme['threshold']))}")
    texts = bench.shelf.queries(n_documents, bench.n_queries)
    source = bench.shelf.collection(n_documents).base
    return report_of_script(
        bench.peers,
        "peers/datasketch_lookups.py",
        *map(str, (source, *texts, *options, "--workers=2")),
    )


def _compare(own: Sequence[Sequence[Any]], others: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Count the pairs of query and document that both find, or one alone."""
    first, second = ({(q, d): s for q, d, s in found} for found in (own, others))
    common = first.keys() & second.keys()
    return {
        "both": len(common),
        "neardup alone": len(first) - len(common),
        "datasketch alone": len(second) - len(common),
        "other similarity": sum(abs(first[pair] - second[pair]) > _CLOSE for pair in common),
    }


def insertions(bench: Bench) -> Figures:
    """Documents inserted one at a time, durable every 1,000."""
    new = bench.shelf.collection(bench.n_documents).new
    number = INSERTIONS // bench.shrink
    runs: dict[str, list[Report]] = {}
    for _ in range(REPEATS):
        for name, options in (("insert", ()), ("insert_if_new", ("--if-new",))):
            with bench.shelf.empty() as folder:
                report = bench.script("insertions", folder, new, "--number", number, *options)
                runs.setdefault(f"{name}, fresh", []).append(report)
            with bench.shelf.copy(bench.n_documents) as folder:
                report = bench.script("insertions", folder, new, "--number", number, *options)
                runs.setdefault(f"{name}, large", []).append(report)
    return {"documents": bench.n_documents, "runs": runs}


def growth(bench: Bench) -> Figures:
    """Indexes of 1 to 10 million documents."""
    cases = []
    for n_documents in (each // bench.shrink for each in GROWTH):
        if bench.most_documents is not None and n_documents > bench.most_documents:
            continue
        collection = bench.shelf.collection(n_documents)
        with bench.shelf.empty() as folder:
            built = bench.shelf.build(n_documents, folder)
            index_bytes = size_of(folder)
            index = bench.shelf.folder / f"{n_documents}-index"
            if not index.exists():
                folder.rename(index)
        looked_up = bench.look_up(n_documents)
        del looked_up["found"]
        cases.append(
            {
                "documents": n_documents,
                "input_bytes": collection.base.stat().st_size,
                "index_bytes": index_bytes,
                "build": _measured([built]),
                **looked_up,
            }
        )
        if n_documents != bench.n_documents:
            bench.shelf.drop(n_documents)
    return {"cases": cases}


PARTS: dict[str, Callable[[Bench], Figures]] = {
    "build": build,
    "queries": queries,
    "insertions": insertions,
    "growth": growth,
}


def median_rate(runs: Sequence[Report], count: str, seconds: str) -> float:
    """Return the median of what was done a second."""
    return statistics.median(each[count] / each[seconds] for each in runs)


def speed(input_bytes: int, seconds: float) -> float:
    """Return the megabytes that were read a second."""
    return input_bytes / MB / seconds
