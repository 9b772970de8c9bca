"""Sketches of documents, a few bytes each, to compare them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engine.opening import open_runner, open_workspace
from neardup.files.destinations import Target
from neardup.files.documents import (
    ReadingPass,
    TextBlock,
    check_unique,
    choose_id_column,
    common_id_type,
    keep_extracted,
    read_text_block,
)
from neardup.files.inputs import passed_over, resolve_inputs
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.options.choices import Data, Fingerprint, SketchKindName
from neardup.options.documents import SketchOptions
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.option import merge
from neardup.outputs.tables import write_table
from neardup.reading.sign import (
    SLICE_BYTES,
    WEIGHTED_SLICE_BYTES,
    ReadingPlan,
    count_tokens,
    counted_shingles,
    describe_filtered,
    rows_where,
)
from neardup.results import SkippedRow
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.sketches import registry
from neardup.sketches.kind import to_column
from neardup.sketches.registry import SketchMaker, make_maker
from neardup.stages.options import hints_of_short, reading_plan, with_warning
from neardup.stages.sketches import SketchCounts, Sketches, summarise
from neardup.tables import Texts, Uint64s


@dataclass(frozen=True)
class _SketchedBlock:
    source: str
    documents: TextBlock
    rows: Any
    digests: Uint64s


class _Sketched(NamedTuple):
    rows: pa.RecordBatchReader
    skipped: list[SkippedRow]
    columns: ColumnNames
    summary: dict[str, Any]


def sketch_sources(
    sources: Sequence[Source],
    options: SketchOptions,
    runner: Runner,
) -> Sketches:
    """Sketch all documents of sources."""
    found = _sketch(sources, options, IN_MEMORY, runner)
    sketches = Sketches(
        *registry.from_arrow(found.rows.read_all()),
        tuple(found.skipped),
        found.summary["seconds"],
        found.summary["passed_over"],
        found.columns,
    )
    sketches.summary.update(found.summary)
    return sketches


def write_sketches(
    sources: Sequence[Source],
    options: SketchOptions,
    target: Target,
    *,
    overwrite: bool = False,
    runner: Runner,
) -> dict[str, Any]:
    """Sketch documents into a file, and return the summary.

    Sketches are in a temporary file until all ids are known, because later ids may change their
    common type. Memory: 8 bytes per document, for 16 million at most.
    """
    with open_workspace(None, None, output=target) as workspace:
        found = _sketch(sources, options, workspace, runner)
        write_table(found.rows, target, overwrite=overwrite)
    return found.summary


def _sketch(
    sources: Sequence[Source],
    options: SketchOptions,
    workspace: Workspace,
    runner: Runner,
) -> _Sketched:
    """Sketch documents into batches, in memory or files."""
    maker, plan = _prepare(sources, options, runner)
    counts, skipped = SketchCounts(), list[SkippedRow]()
    id_types: set[pa.DataType] = set()
    rows = SpilledBatches("sketches", workspace, share=0, weight_of_file=1)
    with runner.stage("sketch") as note:
        with rows:
            for block in _sketch_blocks(sources, maker, plan, runner):
                documents = block.documents
                table = registry.to_arrow(
                    maker.describe(), documents.ids, block.rows, to_column(block.digests)
                ).append_column(_ROW, [pa.array(documents.numbers)])
                for batch in table.combine_chunks().to_batches():
                    rows.append(batch, block.source, 0)
                id_types |= {documents.ids.type} if len(documents) else set()
                skipped += documents.skipped
                counts.add(maker.kind.count_elements(block.rows))
        ids = _SketchedIds(rows)
        check_unique(ids, ids.place, plan.columns)
        note(documents=counts.n_documents)
    nothing, _ = maker.make(Texts.from_arrow(pa.array([], pa.large_string())))
    no_ids = pa.array([], common_id_type(id_types))
    no_digests = to_column(np.empty((0, 2), np.uint64))
    schema = registry.to_arrow(maker.describe(), no_ids, nothing, no_digests).schema
    batches = (batch.drop_columns([_ROW]).cast(schema) for batch in rows)
    summary = summarise(
        maker.describe(),
        counts,
        columns=plan.columns,
        skipped=skipped,
        passed_over=passed_over(sources),
        seconds=runner.seconds,
    )
    summary |= describe_filtered(sources)
    n_short, n_documents = summary["single_shingle_documents"], summary["documents"]
    summary["hints"] = hints_of_short(n_documents, n_short, plan.shingles, has_preset=False)
    reader = pa.RecordBatchReader.from_batches(schema, batches)
    return _Sketched(reader, skipped, plan.columns, summary)


# Column of the rows in their source.
_ROW = "row"


@dataclass(frozen=True)
class _SketchedIds:
    blocks: SpilledBatches

    def __iter__(self) -> Iterator[pa.Array]:
        return (block["id"] for block in self.blocks)

    def place(self, document: int) -> tuple[str, int]:
        for block, source in self.blocks.known():
            if document < len(block):
                return str(source), int(block[_ROW][document].as_py())
            document -= len(block)
        raise IndexError(document)


def _prepare(
    sources: Sequence[Source],
    options: SketchOptions,
    runner: Runner,
) -> tuple[SketchMaker, ReadingPlan]:
    """Choose the sketch maker, and columns of texts and ids."""
    maker, plan = make_maker(options), reading_plan(options)
    plan = replace(plan, columns=choose_id_column(plan.columns, sources))
    if maker.texts.weights.needs_frequencies:
        keep_extracted(open_workspace(None, None), sources)
        with runner.stage("count"):
            maker = _count_frequencies(maker, sources, plan, runner)
    return maker, plan


def _count_frequencies(
    maker: SketchMaker, reference: Sequence[Source], plan: ReadingPlan, runner: Runner
) -> SketchMaker:
    texts = maker.texts
    plan = replace(plan, shingles=texts.shingles)
    counted = counted_shingles([(reference, plan.columns)], plan)
    frequencies = count_tokens("count", counted, runner)
    weights = replace(texts.weights, frequencies=frequencies)
    return replace(maker, texts=replace(texts, weights=weights))


def _sketch_blocks(
    sources: Sequence[Source],
    maker: SketchMaker,
    plan: ReadingPlan,
    runner: Runner,
) -> Iterator[_SketchedBlock]:
    slice_bytes = WEIGHTED_SLICE_BYTES if maker.kind.is_weighted else SLICE_BYTES

    def sketch_block(source: Source, block: RowBlock) -> _SketchedBlock:
        documents = read_text_block(source, block, plan.columns, skip_bad=plan.skip_bad)
        texts = Texts.from_arrow(documents.texts, block.language)
        made = [maker.make(part) for part in texts.slices(slice_bytes)]
        rows = maker.kind.join_rows([rows for rows, _ in made])
        digests = np.concatenate([digests for _, digests in made])
        # Texts are dropped, because they would fill the memory.
        documents = replace(documents, texts=documents.texts.slice(0, 0))
        return _SketchedBlock(source.name, documents, rows, digests)

    for _, sketched in ReadingPass("sketch", sources, runner).map(sketch_block, sources):
        yield sketched


def sketch(
    data: Data,
    kind: SketchKindName = "minhash",
    *,
    num_perm: int | None = None,
    size: int | None = None,
    modulus: int | None = None,
    compression: int | None = None,
    fingerprint: Fingerprint | None = None,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> Sketches:
    """Sketch documents in a few bytes each, to estimate similarities.

    Parameters
    ----------
    data
        Documents, in any form that ``deduplicate`` takes.
    kind
        ``minhash``: Jaccard similarity from a fixed number of positions; ``weighted``: weighted
        Jaccard similarity; ``smallest``: the smallest hashes of a set, with less error for Jaccard
        similarity; ``modulo``: the hashes that a modulus divides, for containment, too; ``edit``:
        symbols of some windows, for edit distance.
    num_perm
        Positions of ``minhash`` and ``weighted``, 1 to 65,536. None: 128.
    size
        Hashes of ``smallest`` (None: 256), or the least expected number in a sketch of ``modulo``
        without a modulus (None: 100). 1 to 1,048,576.
    modulus
        For ``modulo``, 1 to 2^32. None: a power of two for each document, by its size.
    compression
        For ``edit``: characters per symbol. None: 100.
    fingerprint
        Hash function of shingles: ``mixer`` (the default), or ``rabin`` for Rabin fingerprints,
        whose collisions are bounded for any texts.
    text, read, run
        Tokens and shingles, input, and threads.

    Returns
    -------
    The sketches: ``write`` puts them into a file, ``to_arrow`` returns a table, and ``estimate``
    compares them. There is no text in them.

    Raises
    ------
    InvalidParameterError, InvalidInputError, ReadError
        As ``deduplicate``; also for an option of other kinds of sketches.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents. Ioffe (2010), Improved
    consistent sampling, weighted minhash and L1 sketching. Coates (2011), A fast metric of document
    similarity.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat", "the cat sat on a mat", "a dog"]
    >>> sketches = neardup.sketch(texts, kind="smallest", text=neardup.TextOptions(ngram=1))
    >>> neardup.estimate(sketches, threshold=0.8).pairs.select(["id_a", "id_b"]).to_pylist()
    [{'id_a': '0', 'id_b': '1'}]
    """
    options = merge(
        SketchOptions,
        *(text, read),
        kind=kind,
        num_perm=num_perm,
        size=size,
        modulus=modulus,
        compression=compression,
        fingerprint=fingerprint,
    )
    make_maker(options)
    with open_runner(run, "sketch") as runner:
        sources = rows_where(resolve_inputs(data, options), options.where)
        sketches = sketch_sources(sources, options, runner)
    return with_warning(sketches)
