"""Deduplication of collections that are read in small blocks, by several workers."""

from __future__ import annotations

import pyarrow as pa

from neardup.engine.threads import ThreadEngine
from neardup.files.memory import MemorySource
from neardup.jobs.dedup.run import deduplicate_sources
from neardup.options.document_options import DedupOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.options import Reference, plan_deduplication


def tables_of(strings, *, block_rows, workers, against=None, **options):
    """Return kept, removed, clusters and counts of a collection in two parts."""
    plan = plan_deduplication(DedupOptions(**options))

    def sources(collection):
        table = pa.table({"text": collection})
        half = len(table) // 2
        parts = (table.slice(0, half), table.slice(half))
        return [MemorySource(part, block_rows=block_rows) for part in parts]

    other = Reference(plan, sources(against) if against else [])
    engine = ThreadEngine(Runner(workers), IN_MEMORY)
    result = deduplicate_sources(engine, sources(strings), other)
    counts = {
        name: value
        for name, value in result.summary.items()
        if name not in ("seconds", "peak_memory_bytes", "workers")
    }
    return result.kept, result.removed, result.clusters, counts
