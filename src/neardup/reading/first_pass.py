"""The first pass over collections: list, sign and group documents by content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from neardup.files.ids import EarlyIds, choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.kernels.common import strings
from neardup.reading.block_exchange import FILE_TEXT_BYTES, KeptElsewhere
from neardup.reading.catalogue import Catalogue, make_catalogue
from neardup.reading.sign import (
    Collections,
    ListedBlock,
    ReadingPlan,
    SignedBlock,
    list_block,
    sign_block,
)
from neardup.reading.signed_batches import SignedBatches, to_batch, with_place
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.tables import ContentNumbers, Digests, Int64s, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

L = TypeVar("L")

# The stage copies: documents with equal digests have one content, numbered by appearance.

_FIRST_SLOTS = 1 << 12


class ContentTable:
    """Numbers 128-bit digests of token sequences in order of first appearance.

    Memory: 32 to 64 bytes per distinct text.
    """

    def __init__(self) -> None:
        self.size = 0
        self._slots: Int64s = np.full(_FIRST_SLOTS, -1, np.int64)
        self._digests: Uint64s = np.empty((_FIRST_SLOTS // 2, 2), np.uint64)

    def number(self, digests: Digests) -> ContentNumbers:
        """Return the content number of each document, and a mask of first documents."""
        self._reserve(self.size + len(digests))
        before = self.size
        numbers: Int64s = np.empty(len(digests), np.int64)
        self.size = strings.number_digests(
            self._slots, self._digests, before, digests.values, digests.is_filled, numbers
        )
        # Contents are numbered by appearance: a new maximum is a first document.
        highest = np.maximum.accumulate(np.concatenate([[before - 1], numbers]))
        return ContentNumbers(numbers, numbers > highest[:-1])

    def _reserve(self, size: int) -> None:
        if size <= len(self._digests):
            return
        n_slots = len(self._slots)
        while n_slots // 2 < size:
            n_slots *= 2
        digests: Uint64s = np.empty((n_slots // 2, 2), np.uint64)
        digests[: self.size] = self._digests[: self.size]
        self._digests = digests
        self._slots = np.full(n_slots, -1, np.int64)
        strings.rebuild_slots(self._slots, self._digests, self.size)


def assign_firsts(
    documents: Int64s, contents: Int64s, ranks: Int64s | None, firsts: Int64s
) -> None:
    """Assign each document the first one in keep order with the same content."""
    if ranks is not None:
        order = np.argsort(ranks[documents])
        documents, contents = documents[order], contents[order]
    first_of: Int64s = np.empty(int(contents.max(initial=-1)) + 1, np.int64)
    # Assigned backwards, so that the first document of each content remains.
    first_of[contents[::-1]] = documents[::-1]
    firsts[documents] = first_of[contents]


def part_of(values: Uint64s, n_parts: int) -> Uint64s:
    """Return the part of each value among equal ranges of 64-bit numbers."""
    return ((values >> np.uint64(32)) * np.uint64(n_parts)) >> np.uint64(32)


# The stage sign: read all documents of some collections once, within a memory budget.

# Share of the budget for signed documents in memory.
_SIGNED_SHARE = 0.3


@dataclass(frozen=True)
class Signed:
    """Documents of some collections, numbered consecutively."""

    catalogues: tuple[Catalogue, ...]
    batches: SignedBatches


def sign_collections(collections: Collections, workspace: Workspace, runner: Runner) -> Signed:
    """Read all documents of some collections once, each by its own plan."""
    every = [source for sources, _ in collections for source in sources]
    reading = ReadingPass("read", every, runner)
    banding = collections[0][1].banding
    batches = SignedBatches(banding.bands if banding else 0)
    catalogues = []
    for number, (sources, plan) in enumerate(collections):
        plan = replace(plan, columns=choose_id_column(plan.columns, sources))

        def read(block: RowBlock, plan: ReadingPlan = plan) -> tuple[SignedBlock, list[Any]]:
            return sign_block(block, plan), []

        with SpilledBatches(
            f"sign-{number}", workspace, share=_SIGNED_SHARE, weight_of_file=FILE_TEXT_BYTES
        ) as signed:
            read_blocks(sources, read, signed, reading, plan.columns)
        batches.add(signed)
        catalogues.append(
            make_catalogue(
                sources,
                plan.columns,
                signed,
                skips_bad=plan.skip_bad,
                with_lengths=plan.with_lengths,
            )
        )
    return Signed(tuple(catalogues), batches)


def list_documents(
    sources: Sequence[Source],
    columns: ColumnNames,
    workspace: Workspace,
    runner: Runner,
    *,
    skip_bad: bool = False,
    with_lengths: bool = False,
) -> Catalogue:
    """List documents and their ids, optionally with the lengths of texts."""
    columns = choose_id_column(columns, sources)
    reading = ReadingPass("read", sources, runner)
    with SpilledBatches(
        "ids", workspace, share=_SIGNED_SHARE, weight_of_file=FILE_TEXT_BYTES
    ) as listed:
        read_blocks(
            sources,
            lambda block: (
                list_block(block, columns, skip_bad=skip_bad, with_lengths=with_lengths),
                [],
            ),
            listed,
            reading,
            columns,
        )
    return make_catalogue(sources, columns, listed, skips_bad=skip_bad, with_lengths=with_lengths)


def read_blocks(
    sources: Sequence[Source],
    read: Callable[[RowBlock], tuple[ListedBlock, list[L]]],
    batches: SpilledBatches,
    reading: ReadingPass,
    columns: ColumnNames,
    take: Callable[[pa.RecordBatch, Mapping[str, Any], list[L]], object] = lambda *_: None,
    kept: KeptElsewhere | None = None,
) -> None:
    """Read the blocks of a collection, except blocks of an earlier run.

    Parameters
    ----------
    sources
        Sources of the collection.
    read
        Returns the facts about a block's documents, and the argument of ``take``; in threads.
    batches
        Receives the facts.
    reading, columns
        Plan of the pass over all collections, and the columns of ids.
    take
        Called in order with the batch of each block, its facts, and the result of ``read``.
    kept
        Data stored by ``take``, if they may go to files, too.
    """
    n_listed, ids = [0] * len(sources), EarlyIds(columns)
    workspace = batches.workspace
    written_before = workspace.work.size_bytes if workspace.work else 0
    n_bytes, is_checked = 0, False
    for _, known in batches.known():
        n_listed[known["source"]] += 1
    n_taken = n_listed if kept is None else kept.n_blocks
    # Blocks missing in either are read again.
    n_done = [min(each) for each in zip(n_listed, n_taken, strict=True)]
    n_met = n_done.copy()

    def work(_: Source, block: RowBlock) -> tuple[pa.RecordBatch, dict[str, Any], list[L]]:
        found, seen = read(block)
        offset = None if block.place is None else block.place.offset
        known = {"text_bytes": found.text_bytes, "skipped": found.skipped, "offset": offset}
        known |= found.facts
        return with_place(to_batch(found), block.place), known, seen

    for i, (batch, known, seen) in reading.map(work, sources, n_done):
        known["source"], text_bytes = i, known["text_bytes"]
        n_met[i] += 1
        if n_met[i] > n_taken[i]:
            take(batch, known, seen)
        if kept is not None and kept.rows.bytes_in_files:
            batches.to_files()
        if n_met[i] > n_listed[i]:
            if columns.id is not None:
                ids.add(batch["ids"], sources[i].name, batch["numbers"].to_numpy())
            batches.append(batch, known, text_bytes)
            n_bytes += batch.nbytes
        n_new = n_bytes + (0 if kept is None else kept.rows.bytes_in_files)
        if not (is_checked or (batches.is_in_memory and n_new == n_bytes)):
            is_checked = True
            if share := reading.share_done:
                # The remaining blocks are estimated from the present ones.
                workspace.require_disk(int((written_before + n_new) * (1 / share - 1)))
