"""The stage sign: all documents of some collections read once, within a memory budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from neardup.files.ids import choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.reading.catalogue import Catalogue
from neardup.reading.catalogue_parts import make_catalogue
from neardup.reading.plan import ReadingPlan
from neardup.reading.sign import ListedBlock, list_block, sign_block
from neardup.reading.signed_batches import SignedBatches, to_batch
from neardup.runtime.runner import Runner
from neardup.storage.spilled import SpilledBatches

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.storage.workspace import Workspace

# Text of the documents of one file of a work folder; a run that was killed loses so much.
FILE_TEXT_BYTES = 256_000_000

# The share of the budget that signed documents may take in memory.
SIGNED_SHARE = 0.3


@dataclass(frozen=True)
class Signed:
    """Documents of some collections, numbered one collection after the other."""

    catalogues: tuple[Catalogue, ...]
    batches: SignedBatches


def sign_collections(
    collections: Sequence[tuple[Sequence[Source], ReadingPlan]],
    workspace: Workspace,
    runner: Runner,
) -> Signed:
    """Read all documents of some collections once, each by its own plan.

    Raises
    ------
    InvalidInputError
        For a bad row, unless the plan skips those, and for a repeated id in a collection.
    ReadError
        If a file cannot be read.
    WriteError
        If the work folder cannot be written, or its disk has too little room for all documents.
    """
    every = [source for sources, _ in collections for source in sources]
    reading = ReadingPass("read", every, runner)
    banding = collections[0][1].banding
    batches = SignedBatches(banding.bands if banding else 0)
    catalogues = []
    for number, (sources, plan) in enumerate(collections):
        plan = replace(plan, columns=choose_id_column(plan.columns, sources))
        name = f"sign-{number}"
        with SpilledBatches(
            name, workspace, share=SIGNED_SHARE, weight_of_file=FILE_TEXT_BYTES
        ) as signed:
            _read(sources, partial(sign_block, plan=plan), signed, reading, workspace)
        batches.add(signed)
        catalogues.append(
            make_catalogue(
                sources,
                plan.columns,
                signed,
                skips_bad=plan.skip_bad,
                with_lengths=plan.with_lengths,
                by=plan.by,
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
    by: str | None = None,
) -> Catalogue:
    """Read which documents there are, and their ids; of texts that they are there, or how long.

    Of column ``by`` also the values.

    Raises
    ------
    InvalidInputError, ReadError, WriteError
        As ``sign_collections``.
    """
    columns = choose_id_column(columns, sources)
    reading = ReadingPass("read", sources, runner)
    with SpilledBatches(
        "ids", workspace, share=SIGNED_SHARE, weight_of_file=FILE_TEXT_BYTES
    ) as listed:
        _read(
            sources,
            partial(
                list_block, columns=columns, skip_bad=skip_bad, with_lengths=with_lengths, by=by
            ),
            listed,
            reading,
            workspace,
        )
    return make_catalogue(
        sources, columns, listed, skips_bad=skip_bad, with_lengths=with_lengths, by=by
    )


def _read(
    sources: Sequence[Source],
    read: Callable[[RowBlock], ListedBlock],
    batches: SpilledBatches,
    reading: ReadingPass,
    workspace: Workspace,
) -> None:
    """Read the blocks of a collection, but for those that an earlier run has read."""
    n_done = [0] * len(sources)
    written_before = workspace.work.size_bytes if workspace.work else 0
    n_bytes, is_checked = 0, False
    for _, known in batches.known():
        n_done[known["source"]] += 1

    def work(_: Source, block: RowBlock) -> tuple[pa.RecordBatch, int, list[tuple[int, str]]]:
        found = read(block)
        return to_batch(found), found.text_bytes, found.skipped

    for i, (batch, text_bytes, skipped) in reading.map(work, sources, n_done):
        known = {"source": i, "text_bytes": text_bytes, "skipped": skipped}
        batches.append(batch, known, text_bytes)
        n_bytes += batch.nbytes
        if not (is_checked or batches.is_in_memory):
            is_checked = True
            if share := reading.share_done:
                # What is to come is taken to be like what there is.
                workspace.require_disk(int((written_before + n_bytes) * (1 / share - 1)))
