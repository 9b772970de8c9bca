"""Similar passages on Spark: executors read and locate, the driver cuts.

Executors read texts and hash their tokens, which go to the driver. The driver passes over them in
keep order, as in threads. Executors then read documents again to locate what goes, and write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from neardup.engine.spark.cluster import Cluster
from neardup.engine.spark.engine import read_again_on_executors
from neardup.engine.spark.read import read_on_executors
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.passages import FoundSpans, cut_passages
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import read_collections
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.token_pass import TOKENS_SHARE, hash_tokens, token_lists
from neardup.runs.arrays import GrowingArray
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Uint64s


def find_similar_passages(
    cluster: Cluster,
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> FoundSpans:
    """Find the passages that go for a similar one."""
    read = partial(_ReadOnExecutors, cluster)
    return cut_passages(sources, against, plan, workspace, runner, read)


@dataclass(frozen=True, kw_only=True)
class _TokenBlock(ListedBlock):
    """A block's documents and their tokens."""

    tokens: Uint64s


class _ReadOnExecutors:
    """Both collections, read and cut into tokens by executors: ``jobs.cut.passages.Reading``."""

    def __init__(
        self,
        cluster: Cluster,
        sources: Sequence[Source],
        against: Sequence[Source],
        plan: CutJobPlan,
        workspace: Workspace,
        _: Runner,
    ) -> None:
        collections = read_collections(sources, against, plan)
        read = read_on_executors(collections, _hash_block, cluster, workspace)
        self.catalogues = read.catalogues[0], read.catalogues[1]
        try:
            with GrowingArray("tokens", np.uint64, workspace, share=TOKENS_SHARE) as values:
                for _, data in cluster.bring(cluster.work(_give_tokens, read.rows)):
                    values.append(np.frombuffer(data, np.uint64))
        finally:
            read.rows.unpersist()
        self.tokens = token_lists(self.catalogues, values.array)
        self.read_again = partial(read_again_on_executors, read, plan.reading, cluster)


def _hash_block(block: RowBlock, reading: ReadingPlan) -> _TokenBlock:
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, parts = hash_tokens(parsed.text, reading.shingles.tokenizer)
    known = listed(block, parsed, n_tokens, with_lengths=reading.with_lengths)
    tokens = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    return _TokenBlock(**vars(known), tokens=tokens)


def _give_tokens(rows: Iterator[Any]) -> Iterator[tuple[None, bytes]]:
    for row in rows:
        yield None, row.found.tokens.tobytes()
