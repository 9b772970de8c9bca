"""A segment of an index: the windows of some documents, and what shows a passage of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import IndexFormatError
from neardup.kernels import token_places, weights
from neardup.matching.postings import number_values
from neardup.passages.documents import DocumentBlock
from neardup.passages.scheme import PassageScheme
from neardup.passages.windows import (
    ALL_COPIES,
    Occurrences,
    WindowLists,
    group_occurrences,
    multiset_windows,
    weighted_windows,
)
from neardup.runtime.threads import map_ordered
from neardup.storage.manifest import SegmentRecord
from neardup.storage.segments import Segment, SegmentWriter
from neardup.tables import Bytes, Floats, Int32s, Int64s, TokenLists, Uint32s, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

_SCHEMA = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])


@dataclass(frozen=True)
class WindowIndex:
    """The windows of all hash functions; see ``WindowLists``.

    Function f has the keys ``key_starts[f]`` to ``key_starts[f + 1]``.
    """

    key_starts: Int64s
    keys: Uint64s
    list_starts: Int64s
    starts: Uint32s
    spans: npt.NDArray[np.uint16]
    wide_rows: Int64s
    wide_spans: Uint32s


@dataclass(frozen=True)
class PassageSegment:
    """An open segment.

    ``tokens`` are numbers of entries of ``vocabulary``, which are token hashes, ascending; document
    d has ``tokens[offsets[d] : offsets[d + 1]]``.
    """

    name: str
    windows: WindowIndex
    vocabulary: Uint64s
    tokens: Int32s
    offsets: Int64s
    gaps: Bytes
    lengths: Bytes
    samples: Int64s
    far_places: Int64s
    far_values: Int64s
    ids: pa.ChunkedArray
    texts: pa.ChunkedArray

    def text(self, document: int) -> str:
        """Give the text of a document."""
        return str(self.texts[document].as_py())

    def token_lists(self) -> TokenLists:
        """Give the token hashes of all documents again."""
        return TokenLists(self.vocabulary[self.tokens], self.offsets)

    def byte_places(self, tokens: Int64s, documents: Int64s) -> tuple[Int64s, Int64s]:
        """Tell where tokens, counted through the segment, start and stop in their texts' bytes."""
        starts, stops = np.empty_like(tokens), np.empty_like(tokens)
        token_places.find_places(
            tokens,
            self.offsets[documents],
            self.gaps,
            self.lengths,
            self.samples,
            self.far_places,
            self.far_values,
            starts,
            stops,
        )
        return starts, stops


def count_windows(
    token_lists: TokenLists, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> tuple[Occurrences, Callable[[int], WindowLists]]:
    """Group the tokens of some texts; give what lists their windows under a seed."""
    texts = group_occurrences(token_lists)
    weighting = scheme.weighting
    if weighting.counts_only:
        most = 1 if weighting.tf == "binary" else ALL_COPIES
        return texts, lambda seed: multiset_windows(texts, seed, scheme.min_tokens, most)
    log_weights = text_log_weights(texts, scheme, frequencies)
    return texts, lambda seed: weighted_windows(texts, log_weights, seed, scheme.min_tokens)


def text_log_weights(
    texts: Occurrences, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Floats:
    """Give the logarithm of each token's weight at each number of copies, by type."""
    weighting = scheme.weighting
    counts = np.diff(texts.type_starts)
    table = term_frequencies(weighting.tf, int(counts.max(initial=0)))
    inverses = inverse_frequencies(texts.type_hashes, scheme, frequencies)
    log_weights: Floats = np.empty(len(texts.positions), np.float64)
    weights.fill_log_weights(texts.type_starts, len(counts), table, inverses, log_weights)
    return log_weights


def inverse_frequencies(
    hashes: Uint64s, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> Floats:
    """Give the inverse document frequency of tokens; 1 for all where none was counted."""
    if frequencies is None:
        return np.ones(len(hashes), np.float64)
    return frequencies.idf_of(hashes, scheme.weighting.idf)


def write_segment(
    folder: Path,
    name: str,
    block: DocumentBlock,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    *,
    workers: int,
    report: Callable[[int], None],
) -> SegmentRecord:
    """Write a segment of some documents; ``report`` is told how many hash functions are done.

    The bytes written do not depend on ``workers``.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    with SegmentWriter(folder, name) as writer:
        _write_documents(writer, block)
        _, list_windows = count_windows(block.tokens, scheme, frequencies)
        key_starts, list_starts, n_windows = [0], [np.zeros(1, np.int64)], 0
        wide_rows = []
        seeds = [int(seed) for seed in scheme.seeds]
        for done, lists in enumerate(map_ordered(list_windows, seeds, workers), 1):
            writer.append("keys", lists.keys)
            writer.append("starts", lists.starts)
            writer.append("spans", lists.spans)
            writer.append("wide-spans", lists.wide_spans)
            wide_rows.append(lists.wide_rows + n_windows)
            list_starts.append(lists.offsets[1:] + n_windows)
            key_starts.append(key_starts[-1] + len(lists.keys))
            n_windows += len(lists)
            report(done)
        writer.add("key-starts", np.array(key_starts, np.int64))
        writer.add("list-starts", np.concatenate(list_starts))
        writer.add("wide-rows", np.concatenate(wide_rows))
        files = writer.commit()
    return SegmentRecord(name, len(block), block.n_tokens, files)


def _write_documents(writer: SegmentWriter, block: DocumentBlock) -> None:
    writer.add_table("documents", pa.table([block.ids, block.texts], _SCHEMA))
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
    samples = np.empty(-(-n // token_places.STEP), np.int64)
    room = 1 << 12
    while True:
        far_places, far_values = np.empty(room, np.int64), np.empty(room, np.int64)
        n_far = token_places.pack_places(
            block.tokens.offsets,
            block.spans.starts,
            block.spans.stops,
            gaps,
            lengths,
            samples,
            far_places,
            far_values,
        )
        if n_far <= room:
            break
        room = int(n_far)
    writer.add("gaps", gaps)
    writer.add("lengths", lengths)
    writer.add("samples", samples)
    writer.add("far-places", far_places[:n_far])
    writer.add("far-values", far_values[:n_far])


def read_segment(stored: Segment, scheme: PassageScheme) -> PassageSegment:
    """See the files of a segment as what they are, after a look at how they fit together.

    Raises
    ------
    IndexFormatError
        If they do not.
    """
    record = stored.record
    n_docs, n_tokens = record.n_documents, record.n_tokens
    table = stored.table("documents", _SCHEMA)
    key_starts = stored.array("key-starts", np.int64, length=scheme.num_perm + 1)
    keys = stored.array("keys", np.uint64)
    list_starts = stored.array("list-starts", np.int64, length=len(keys) + 1)
    starts = stored.array("starts", np.uint32)
    wide_rows = stored.array("wide-rows", np.int64)
    windows = WindowIndex(
        key_starts,
        keys,
        list_starts,
        starts,
        stored.array("spans", np.uint16, ndim=2, length=len(starts)),
        wide_rows,
        stored.array("wide-spans", np.uint32, ndim=2, length=len(wide_rows)),
    )
    far_places = stored.array("far-places", np.int64)
    segment = PassageSegment(
        record.name,
        windows,
        stored.array("vocabulary", np.uint64),
        stored.array("tokens", np.int32, length=n_tokens),
        stored.array("offsets", np.int64, length=n_docs + 1),
        stored.array("gaps", np.uint8, length=n_tokens),
        stored.array("lengths", np.uint8, length=n_tokens),
        stored.array("samples", np.int64, length=-(-n_tokens // token_places.STEP)),
        far_places,
        stored.array("far-values", np.int64, length=len(far_places)),
        table["id"],
        table["text"],
    )
    _check_ascending(stored, "offsets", segment.offsets, n_tokens)
    _check_ascending(stored, "key-starts", key_starts, len(keys))
    _check_ascending(stored, "list-starts", list_starts, len(starts))
    if len(table) != n_docs:
        raise _misfit(stored, "documents.arrow")
    return segment


def _check_ascending(stored: Segment, name: str, array: npt.NDArray[Any], last: int) -> None:
    if array[0] != 0 or array[-1] != last or (np.diff(array) < 0).any():
        raise _misfit(stored, f"{name}.npy")


def _misfit(stored: Segment, name: str) -> IndexFormatError:
    message = "the file does not fit to the others of its segment; build the index again"
    return IndexFormatError(message, path=str(stored.path / name))
