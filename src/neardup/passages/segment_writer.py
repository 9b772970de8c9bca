"""Writing a segment of an index: documents, their tokens, and all their windows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.files.ids import as_text
from neardup.kernels.passage import segments
from neardup.kernels.types import Int
from neardup.matching.postings import number_values
from neardup.passages.documents import DocumentBlock
from neardup.passages.room import fill_array
from neardup.passages.scheme import PassageScheme
from neardup.passages.segment import document_schema
from neardup.passages.weights import count_windows
from neardup.runtime.runner import Runner
from neardup.storage.manifest import SegmentRecord
from neardup.storage.segment_writer import SegmentWriter
from neardup.tables import Int32s, Int64s, Uint64s
from neardup.text.weighting import DocumentFrequencies

_FIRST_ROOM = 1 << 12


def write_segment(
    folder: Path,
    name: str,
    block: DocumentBlock,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> SegmentRecord:
    """Write a segment of some documents; reports how many hash functions are done.

    The bytes written do not depend on the number of threads.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    with SegmentWriter(folder, name) as writer:
        _write_documents(writer, block, overlap=scheme.shingles.ngram > 1)
        _, list_windows = count_windows(block.tokens, scheme, frequencies)
        key_starts, list_starts, n_windows = [0], [np.zeros(1, np.int64)], 0
        wide_rows = []
        seeds = [int(seed) for seed in scheme.seeds]
        for done, lists in enumerate(runner.map(list_windows, seeds), 1):
            writer.append("keys", lists.keys)
            writer.append("starts", lists.starts)
            writer.append("spans", lists.spans)
            writer.append("wide-spans", lists.wide_spans)
            wide_rows.append(lists.wide_rows + n_windows)
            list_starts.append(lists.offsets[1:] + n_windows)
            key_starts.append(key_starts[-1] + len(lists.keys))
            n_windows += len(lists)
            runner.report("windows", done, scheme.num_perm)
        writer.add("key-starts", np.array(key_starts, np.int64))
        writer.add("list-starts", np.concatenate(list_starts))
        writer.add("wide-rows", np.concatenate(wide_rows))
        files = writer.commit()
    return SegmentRecord(name, len(block), block.n_tokens, files)


def _write_documents(writer: SegmentWriter, block: DocumentBlock, *, overlap: bool) -> None:
    schema = document_schema(block.ids.type)
    writer.add_table("documents", pa.table([as_text(block.ids), block.texts], schema))
    numbers, frequencies = number_values(block.tokens.values)
    distinct: Uint64s = np.empty(len(frequencies), np.uint64)
    distinct[numbers] = block.tokens.values
    order = np.argsort(distinct)
    ranks: Int32s = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    writer.add("vocabulary", distinct[order])
    writer.add("tokens", ranks[numbers])
    writer.add("offsets", block.tokens.offsets)
    n = block.n_tokens
    gaps, lengths = np.empty(n, np.uint8), np.empty(n, np.uint8)
    samples = np.empty(-(-n // segments.STEP), np.int64)
    spans = block.spans

    def pack(far: Int64s) -> Int:
        return segments.pack_places(
            block.tokens.offsets,
            spans.starts,
            spans.stops,
            overlap,
            gaps,
            lengths,
            samples,
            far[0],
            far[1],
        )

    far, n_far = fill_array(pack, np.empty((2, _FIRST_ROOM), np.int64), axis=1)
    writer.add("gaps", gaps)
    writer.add("lengths", lengths)
    writer.add("samples", samples)
    writer.add("far-places", far[0, :n_far])
    writer.add("far-values", far[1, :n_far])
