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
    check_unique,
    choose_id_column,
    common_id_type,
    keep_extracted,
    read_text_block,
)
from neardup.files.inputs import passed_over, resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.options.choices import Data, Fingerprint, SketchKindName
from neardup.options.document_options import SketchOptions
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.option import merge
from neardup.outputs.output_tables import write_table
from neardup.reading.sign import (
    SLICE_BYTES,
    WEIGHTED_SLICE_BYTES,
    count_tokens,
    describe_filtered,
    rows_where,
    shingle_collections,
)
from neardup.results import SkippedRow, describe_ids, describe_skipped
from neardup.runs.exchange import SpilledBatches
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.sketches import kind as kinds
from neardup.sketches.kind import digest_column, make_maker
from neardup.stages.options import hints_of_short, reading_plan, with_warning
from neardup.stages.sketches import Sketches
from neardup.tables import Int64s, Texts


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
        rows, summary = _sketch(sources, options, workspace, runner)
        write_table(rows, target, overwrite=overwrite)
    return summary


class _SketchedBlock(NamedTuple):
    """Sketches of a block, with source rows and facts."""

    source: str
    table: pa.Table
    n_elements: Int64s
    skipped: list[SkippedRow]


# Column of the rows in their source.
_ROW = "row"


def _sketch(
    sources: Sequence[Source], options: SketchOptions, workspace: Workspace, runner: Runner
) -> tuple[pa.RecordBatchReader, dict[str, Any]]:
    """Sketch documents into batches, in memory or files, with the summary."""
    maker, plan = make_maker(options), reading_plan(options)
    plan = replace(plan, columns=choose_id_column(plan.columns, sources))
    if maker.weights.needs_frequencies:
        keep_extracted(open_workspace(None, None), sources)
        with runner.stage("count"):
            read = replace(plan, shingles=maker.shingles)
            counted = shingle_collections([(sources, plan.columns)], read)
            frequencies = count_tokens("count", counted, runner)
        maker = replace(maker, weights=replace(maker.weights, frequencies=frequencies))
    kind, scheme = maker.kind, maker.describe()
    slice_bytes = WEIGHTED_SLICE_BYTES if kind.is_weighted else SLICE_BYTES

    def sketch_block(source: Source, block: RowBlock) -> _SketchedBlock:
        documents = read_text_block(source, block, plan.columns, skip_bad=plan.skip_bad)
        texts = Texts.from_arrow(documents.texts, block.language)
        made = [maker.make(part) for part in texts.slices(slice_bytes)]
        rows = kind.join_rows([rows for rows, _ in made])
        digests = digest_column(np.concatenate([digests for _, digests in made]))
        table = kinds.to_arrow(scheme, documents.ids, rows, digests)
        table = table.append_column(_ROW, [pa.array(documents.numbers)])
        return _SketchedBlock(source.name, table, kind.count_elements(rows), documents.skipped)

    n_documents = n_empty = n_single = 0
    skipped, id_types = list[SkippedRow](), set[pa.DataType]()
    rows = SpilledBatches("sketches", workspace, share=0, weight_of_file=1)
    with runner.stage("sketch") as note:
        with rows:
            for _, made in ReadingPass("sketch", sources, runner).map(sketch_block, sources):
                for batch in made.table.combine_chunks().to_batches():
                    rows.append(batch, made.source, 0)
                if len(made.table):
                    id_types.add(made.table["id"].type)
                skipped += made.skipped
                n_documents += len(made.table)
                n_empty += int((made.n_elements == 0).sum())
                n_single += int((made.n_elements == 1).sum())
        ids = _SketchedIds(rows)
        check_unique(ids, ids.place, plan.columns)
        note(documents=n_documents)
    nothing, digests = maker.make(Texts.from_arrow(pa.array([], pa.large_string())))
    no_ids = pa.array([], common_id_type(id_types))
    schema = kinds.to_arrow(scheme, no_ids, nothing, digest_column(digests)).schema
    batches = (batch.drop_columns([_ROW]).cast(schema) for batch in rows)
    # Texts with one shingle are mostly shorter than a shingle.
    n_single = n_single if scheme.get("ngram", 1) > 1 else 0
    summary = {
        "kind": kind.name,
        "documents": n_documents,
        "scheme": scheme,
        "empty_documents": n_empty,
        "single_shingle_documents": n_single,
        **describe_ids(plan.columns),
        **describe_skipped(skipped),
        "passed_over": passed_over(sources),
        "seconds": runner.seconds,
        **describe_filtered(sources),
        "hints": hints_of_short(n_documents, n_single, plan.shingles),
    }
    return pa.RecordBatchReader.from_batches(schema, batches), summary


@dataclass(frozen=True)
class _SketchedIds:
    blocks: SpilledBatches

    def __iter__(self) -> Iterator[pa.Array]:
        return (block["id"] for block in self.blocks)

    def place(self, document: int) -> tuple[str, int]:
        for block, source in self.blocks.with_facts():
            if document < len(block):
                return str(source), int(block[_ROW][document].as_py())
            document -= len(block)
        raise IndexError(document)


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
    options = merge(SketchOptions, locals())
    make_maker(options)
    with open_runner(run) as runner:
        sources = rows_where(resolve_inputs(data, options), options.where)
        rows, summary = _sketch(sources, options, IN_MEMORY, runner)
        sketches = Sketches(*kinds.from_arrow(rows.read_all()), summary)
    return with_warning(sketches)
