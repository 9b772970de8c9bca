"""A passage index on disk: documents go in and out, queries are looked up."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.rows import Source
from neardup.passages.documents import DocumentBlock, ReadOptions, join_blocks, read_documents
from neardup.passages.scheme import PassageScheme, restore_scheme
from neardup.passages.segment import PassageSegment, read_segment, write_segment
from neardup.runtime.progress import Progress
from neardup.storage.checksums import FileRecord
from neardup.storage.extras import load_extra, load_removed, write_extra, write_removed
from neardup.storage.folder import changing, create_index, read_current
from neardup.storage.manifest import Manifest, SegmentRecord, store_manifest
from neardup.storage.segments import open_segment
from neardup.tables import TokenSpans, Uint32s
from neardup.text.tokenizers import TokenFunction
from neardup.text.weighting import DocumentFrequencies, count_documents

# A segment is written when so many tokens have come together; each takes some 110 bytes meanwhile.
SEGMENT_TOKENS = 1 << 24


@dataclass(frozen=True)
class OpenIndex:
    """All that a reader needs of an index, as it was at one moment.

    ``removed`` holds, for each segment, the numbers of documents that are no longer there.
    """

    manifest: Manifest
    scheme: PassageScheme
    frequencies: DocumentFrequencies | None
    segments: tuple[PassageSegment, ...]
    removed: tuple[Uint32s, ...]

    @property
    def n_documents(self) -> int:
        """Documents that can be found."""
        return sum(len(s.ids) for s in self.segments) - sum(map(len, self.removed))


@dataclass
class Addition:
    """What an addition did."""

    n_documents: int = 0
    n_tokens: int = 0
    n_empty: int = 0
    n_short: int = 0
    skipped: list[tuple[str, int, str]] = field(default_factory=list)


def read_index(
    folder: Path, tokenizer: str | Path | TokenFunction | None = None, workers: int | None = None
) -> OpenIndex:
    """Open an index and check every byte of it.

    Raises
    ------
    ReadError
        If there is none, or it cannot be read.
    IndexFormatError
        If it is damaged, or of a newer version.
    InvalidParameterError, SketchMismatchError
        If its tokenizer is missing, or another one.
    """

    def open_files(manifest: Manifest) -> OpenIndex:
        scheme = restore_scheme(manifest.scheme, tokenizer)
        segments, removed = [], []
        for record in manifest.segments:
            segments.append(read_segment(open_segment(folder, record, workers=workers), scheme))
            removed.append(load_removed(folder, record))
        frequencies = _load_frequencies(folder, manifest)
        return OpenIndex(manifest, scheme, frequencies, tuple(segments), tuple(removed))

    return read_current(folder, open_files)


def create(folder: Path, scheme: PassageScheme) -> None:
    """Make an empty index.

    Raises
    ------
    OutputExistsError, WriteError
        If the folder is there, or cannot be made.
    """
    create_index(folder, Manifest(scheme.describe()))


def add_documents(
    folder: Path,
    sources: Sequence[Source],
    options: ReadOptions,
    *,
    tokenizer: str | Path | TokenFunction | None = None,
    workers: int,
    progress: Progress,
    segment_tokens: int = SEGMENT_TOKENS,
) -> Addition:
    """Add documents, all of them or none.

    The first addition decides the inverse document frequencies, if tokens are weighted by them:
    then the input is read twice.

    Raises
    ------
    InvalidInputError
        For a bad row, or an id that comes twice or is in the index.
    IndexLockedError
        If another writer is at work.
    ReadError, WriteError, IndexFormatError
        If files cannot be read or written, or are damaged.
    """
    with changing(folder) as manifest:
        index = read_index(folder, tokenizer, workers)
        scheme, frequencies = index.scheme, index.frequencies
        files = dict(manifest.files)
        if scheme.weighting.idf != "unary" and frequencies is None:
            blocks = read_documents(
                sources,
                scheme.tokenizer,
                options,
                workers=workers,
                progress=progress,
                stage="count",
            )
            frequencies = count_documents(block.tokens for block in blocks)
            # No documents decide nothing: with their frequencies, no token ever weighed anything.
            if frequencies.n_documents:
                files.update(_store_frequencies(folder, frequencies))
        addition = Addition()
        known = _known_ids(index)
        records = list(manifest.segments)
        blocks = read_documents(
            sources, scheme.tokenizer, options, workers=workers, progress=progress
        )
        for block in _gather(blocks, segment_tokens):
            known = _check_ids(known, block.ids)
            _count(addition, block, scheme)
            if not len(block):
                continue
            name = _free_name(manifest, len(records))

            def report(done: int) -> None:
                progress("windows", done, scheme.num_perm)

            records.append(
                write_segment(
                    folder, name, block, scheme, frequencies, workers=workers, report=report
                )
            )
        _store(folder, manifest, records, files)
        return addition


def remove_documents(folder: Path, ids: Iterable[str]) -> int:
    """Take documents out; all of them or none. Gives their number.

    Their windows stay on disk until the index is compacted.

    Raises
    ------
    InvalidInputError
        If there is no document of one of the ids.
    """
    wanted = pa.array(sorted(set(ids)), pa.large_string())
    with changing(folder) as manifest:
        lost, found = [], []
        for record in manifest.segments:
            table = open_segment(folder, record).table("documents")
            before = load_removed(folder, record)
            rows = np.flatnonzero(pc.is_in(table["id"], value_set=wanted).to_numpy())
            rows = np.setdiff1d(rows, before)
            found.append(table["id"].take(pa.array(rows)))
            lost.append((record, before, rows.astype(np.uint32)))
        _check_all_found(wanted, found)
        if len(wanted):
            records = [_without(folder, manifest, *of_segment) for of_segment in lost]
            _store(folder, manifest, records, manifest.files)
    return len(wanted)


def compact_index(
    folder: Path,
    *,
    tokenizer: str | Path | TokenFunction | None = None,
    workers: int,
    progress: Progress,
    segment_tokens: int = SEGMENT_TOKENS,
) -> int:
    """Write all segments anew, without removed documents and as few as possible.

    The answers stay the same. Gives the number of segments. Documents are not tokenised again.
    """
    with changing(folder) as manifest:
        index = read_index(folder, tokenizer, workers)
        blocks = (
            _stored_block(segment, removed)
            for segment, removed in zip(index.segments, index.removed, strict=True)
        )
        records: list[SegmentRecord] = []
        for block in _gather(blocks, segment_tokens):
            if not len(block):
                continue
            name = _free_name(manifest, len(records))

            def report(done: int) -> None:
                progress("windows", done, index.scheme.num_perm)

            records.append(
                write_segment(
                    folder,
                    name,
                    block,
                    index.scheme,
                    index.frequencies,
                    workers=workers,
                    report=report,
                )
            )
        _store(folder, manifest, records, manifest.files)
        return len(records)


def describe_index(folder: Path, index: OpenIndex) -> dict[str, Any]:
    """Tell what an index holds, in plain values."""
    manifest = index.manifest
    records = manifest.segments
    of_texts = sum(segment.files["documents.arrow"].size for segment in records)
    of_all = sum(record.size for segment in records for record in segment.files.values())
    n_tokens = sum(segment.n_tokens for segment in records)
    return {
        "folder": str(folder),
        "documents": index.n_documents,
        "removed_documents": sum(map(len, index.removed)),
        "tokens": n_tokens,
        "windows": sum(len(segment.windows.starts) for segment in index.segments),
        "segments": len(records),
        "bytes": of_all + sum(record.size for record in manifest.files.values()),
        "bytes_of_texts": of_texts,
        "scheme": dict(manifest.scheme),
        "generation": manifest.generation,
        "created_with": manifest.created_with,
    }


def _store(
    folder: Path,
    manifest: Manifest,
    records: Sequence[SegmentRecord],
    files: Mapping[str, FileRecord],
) -> None:
    generation = manifest.generation + 1
    store_manifest(
        folder, replace(manifest, generation=generation, segments=tuple(records), files=files)
    )


def _free_name(manifest: Manifest, number: int) -> str:
    """Name a segment by the generation that it comes with and its number."""
    return f"g{manifest.generation + 1:06d}-{number:04d}"


def _gather(blocks: Iterable[DocumentBlock], segment_tokens: int) -> Iterator[DocumentBlock]:
    """Put blocks together until they have enough tokens for a segment."""
    gathered: list[DocumentBlock] = []
    n_tokens = 0
    for block in blocks:
        gathered.append(block)
        n_tokens += block.n_tokens
        if n_tokens >= segment_tokens:
            yield join_blocks(gathered)
            gathered, n_tokens = [], 0
    if gathered:
        yield join_blocks(gathered)


def _count(addition: Addition, block: DocumentBlock, scheme: PassageScheme) -> None:
    sizes = np.diff(block.tokens.offsets)
    addition.n_documents += len(block)
    addition.n_tokens += block.n_tokens
    addition.n_empty += int((sizes == 0).sum())
    addition.n_short += int(((sizes > 0) & (sizes < scheme.min_tokens)).sum())
    addition.skipped.extend(block.skipped)


def _known_ids(index: OpenIndex) -> pa.Array:
    parts = [pa.array([], pa.large_string())]
    for segment, removed in zip(index.segments, index.removed, strict=True):
        parts.append(_kept(segment.ids, removed).combine_chunks())
    return pa.concat_arrays(parts)


def _kept(column: pa.ChunkedArray, removed: Uint32s) -> pa.ChunkedArray:
    if not len(removed):
        return column
    keep = np.ones(len(column), np.bool_)
    keep[removed] = False
    return column.filter(pa.array(keep))


def _check_ids(known: pa.Array, ids: pa.Array) -> pa.Array:
    """Raise if an id is there already; gives all ids."""
    everything = pa.concat_arrays([known, ids])
    if pc.count_distinct(everything).as_py() == len(everything):
        return everything
    counts = pc.value_counts(everything)
    repeated = pc.filter(counts.field("values"), pc.greater(counts.field("counts"), 1))
    identifier = repeated[0].as_py()
    message = (
        f"id {identifier!r} is in the index already, or comes twice; ids must differ. Remove the "
        "old document first, or choose another --id-column"
    )
    raise InvalidInputError(message)


def _without(
    folder: Path, manifest: Manifest, record: SegmentRecord, before: Uint32s, rows: Uint32s
) -> SegmentRecord:
    if not len(rows):
        return record
    name = f"{record.name}-{manifest.generation + 1:06d}"
    everything: Uint32s = np.union1d(before, rows).astype(np.uint32)
    return replace(record, removed=write_removed(folder, name, everything))


def _check_all_found(wanted: pa.Array, found: Sequence[pa.ChunkedArray]) -> None:
    have = pa.chunked_array(
        list(itertools.chain.from_iterable(column.chunks for column in found)), pa.large_string()
    )
    missing = wanted.filter(pc.invert(pc.is_in(wanted, value_set=have)))
    if len(missing):
        others = {1: "", 2: " and another one"}.get(
            len(missing), f" and {len(missing) - 1:,} others"
        )
        message = f"the index has no document {missing[0].as_py()!r}{others}; nothing was removed"
        raise InvalidInputError(message)


def _stored_block(segment: PassageSegment, removed: Uint32s) -> DocumentBlock:
    """Give the documents of a segment that are still there, as they were read."""
    tokens = segment.token_lists()
    n = len(tokens.values)
    documents = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
    starts, stops = segment.byte_places(np.arange(n, dtype=np.int64), documents)
    keep = np.ones(len(tokens), np.bool_)
    keep[removed] = False
    of_kept = np.repeat(keep, np.diff(tokens.offsets))
    sizes = np.diff(tokens.offsets)[keep]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return DocumentBlock(
        _kept(segment.ids, removed).combine_chunks(),
        _kept(segment.texts, removed).combine_chunks(),
        replace(tokens, values=tokens.values[of_kept], offsets=offsets),
        TokenSpans(starts[of_kept], stops[of_kept]),
    )


_N_DOCUMENTS = "frequencies-documents"


def _store_frequencies(folder: Path, frequencies: DocumentFrequencies) -> dict[str, FileRecord]:
    n_documents = np.array([frequencies.n_documents], np.int64)
    return {
        **write_extra(folder, "frequencies-hashes", frequencies.hashes),
        **write_extra(folder, "frequencies-counts", frequencies.counts),
        **write_extra(folder, _N_DOCUMENTS, n_documents),
    }


def _load_frequencies(folder: Path, manifest: Manifest) -> DocumentFrequencies | None:
    if f"{_N_DOCUMENTS}.npy" not in manifest.files:
        return None
    return DocumentFrequencies(
        load_extra(folder, manifest, "frequencies-hashes", np.uint64),
        load_extra(folder, manifest, "frequencies-counts", np.int64),
        int(load_extra(folder, manifest, _N_DOCUMENTS, np.int64)[0]),
    )
