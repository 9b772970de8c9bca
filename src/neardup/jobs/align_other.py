"""Reference of an alignment: an index, or documents to index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neardup.engine.engine import Engine, Means
from neardup.errors import InvalidParameterError
from neardup.files.inputs import name_apart
from neardup.files.rows import RowBlock, Source
from neardup.index.index import Addition, SharedIndex
from neardup.index.store import SEGMENTS, SegmentRecord, index_named, kind_of
from neardup.options.choices import InverseFrequency
from neardup.options.kinds import exact_fraction
from neardup.options.passages import AlignOptions
from neardup.options.presets import PassagePreset, describe_preset, passages_for
from neardup.passages.align import AlignmentPlan, make_alignment_plan, make_window_scheme, step_of
from neardup.passages.documents import DocumentBlock, PassageReading, gather, read_document_block
from neardup.passages.index import (
    OpenPassages,
    PassageHandle,
    combine,
    open_segments,
    temporary_contents,
)
from neardup.passages.lookup import segment_tokens_within
from neardup.passages.plan import (
    choose_seed_threshold,
    jaccard_of_share,
    make_search_plan,
    passage_recall,
    share_of_jaccard,
)
from neardup.passages.segment import write_segment
from neardup.passages.windows import PassageScheme
from neardup.results import SkippedRow
from neardup.stages.options import columns_of, other_columns_of
from neardup.tables import TokenLists
from neardup.text.tokenizers import Tokenizer
from neardup.text.weighting import DocumentFrequencies

# In fewer documents, a word of all documents may be one of few that two texts share.
_FEW = 5


@dataclass(frozen=True)
class NewDocuments:
    """Documents to index in a temporary folder.

    The index finds passages of ``min_tokens`` tokens; ``scheme`` are its other options. A few
    documents are weighed by ``idf_of_few``, if given. With ``is_input``, they are also the queries.
    """

    sources: Sequence[Source]
    read: PassageReading
    min_tokens: int
    scheme: Mapping[str, Any]
    idf_of_few: InverseFrequency | None = None
    is_input: bool = False

    @property
    def window_scheme(self) -> PassageScheme:
        """Scheme of their index."""
        return make_window_scheme(self.min_tokens, **self.scheme)

    def weighed(self, index: OpenPassages) -> OpenPassages:
        """Return their index with the weights of few documents, if they are few."""
        if self.idf_of_few is None or index.n_documents >= _FEW:
            return index
        return index.weighed_by(self.idf_of_few)


Other = PassageHandle | NewDocuments


def choose_other(
    against: Any,
    resolve: Callable[[Any], Sequence[Source]],
    options: AlignOptions,
    scheme: Mapping[str, Any],
    queries: Sequence[Source],
) -> Other:
    """Decide whether the other collection is an index or documents.

    A ``PassageIndex``, and the path of a folder with one, are an index; all other data are
    documents, which ``resolve`` finds, including documents of an index of documents; None are the
    queries themselves. ``scheme`` are options of a new index only, some of them from a preset.
    Files get names that distinguish them from those of ``queries``.
    """
    handle = getattr(against, "_handle", None)
    if isinstance(handle, PassageHandle):
        _check_no_scheme(scheme)
        return handle
    folder = index_named(against)
    if folder is not None and kind_of(folder) == "passages":
        _check_no_scheme({name: value for name, value in scheme.items() if name != "tokenizer"})
        return PassageHandle(folder, scheme.get("tokenizer"))
    is_input = against is None
    sources = queries if is_input else name_apart(resolve(against), queries)
    columns = columns_of(options) if is_input else other_columns_of(options)
    usual = usual_of(options)
    least = usual.min_tokens if options.min_tokens is None else options.min_tokens
    # In few documents, nearly every word is in all.
    idf: InverseFrequency | None = None
    if usual.scheme.get("idf") == "standard" and scheme.get("idf") is None:
        idf = "smooth"
    read = PassageReading(columns, options.skip_bad)
    of_index = {**usual.scheme, "num_perm": 0, **scheme}
    return NewDocuments(sources, read, least, of_index, idf, is_input)


@contextmanager
def open_other(
    engine: Engine, other: Other
) -> Iterator[tuple[SharedIndex[OpenPassages], Sequence[SkippedRow]]]:
    """Open an index, or index documents for this block.

    Yields it with the skipped rows. A new index is in the work folder, and is removed after the
    block.
    """
    if isinstance(other, PassageHandle):
        yield other.share(other.view(engine.runner)), ()
        return
    scheme = other.window_scheme
    with engine.workspace.passing_folder() as folder:
        with engine.stage("read") as note:
            index, addition = _index_in_folder(engine, other, scheme, folder)
            note(documents=addition.n_documents, tokens=addition.n_tokens)
        skipped = addition.skipped
        # It holds all ids.
        del addition
        with engine.share(folder) as shared:
            yield SharedIndex(other.weighed(index), shared), skipped


def _index_in_folder(
    engine: Engine, other: NewDocuments, scheme: PassageScheme, folder: Path
) -> tuple[OpenPassages, Addition]:
    read = partial(read_document_block, tokenizer=scheme.tokenizer, options=other.read)
    frequencies = None
    if scheme.weighting.idf != "unary":
        listed = partial(_list_tokens, scheme.tokenizer, other.read)
        frequencies = engine.count("count", [(other.sources, listed)])
    empty = combine(temporary_contents(scheme), scheme, frequencies, [])
    addition = Addition(empty, other.read.columns, scheme.least_shingles)
    records: list[SegmentRecord] = []
    make = partial(_make_segments, scheme, frequencies)
    (folder / SEGMENTS).mkdir()
    for record, file, rows in engine.stream("read", other.sources, read, make):
        addition.take(*rows)
        addition.check_repeats()
        if record is not None:
            records.append(replace(record, name=f"s{len(records)}"))
            file.move(folder / SEGMENTS / records[-1].name)
    contents = temporary_contents(scheme, records)
    return open_segments(folder, contents, scheme, frequencies, engine.runner), addition


def _list_tokens(
    tokenizer: Tokenizer, read: PassageReading, source: Source, block: RowBlock
) -> TokenLists:
    return read_document_block(source, block, tokenizer, read).tokens


class _SegmentFile:
    """File of a segment, pickled with its bytes between processes."""

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self._path, self._data = path, data

    def __reduce__(self) -> tuple[Any, ...]:
        return _SegmentFile, (self._path, self._path.read_bytes() if self._path.exists() else b"")

    def move(self, path: Path) -> None:
        if self._data is None:
            self._path.rename(path)
        else:
            path.write_bytes(self._data)


# The record of a segment, None if all rows were skipped, its file, and the rows for ``Addition``.
_Made = tuple[SegmentRecord | None, _SegmentFile, tuple[Any, ...]]


def _make_segments(
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    blocks: Iterator[DocumentBlock],
    means: Means,
) -> Iterator[_Made]:
    """Make segments of documents, as large as the memory allows."""
    with means.workspace.passing_folder() as folder:
        for number, block in enumerate(gather(blocks, segment_tokens_within(means.workspace))):
            name, record = f"s{number}", None
            if len(block):
                record = write_segment(folder, name, block, scheme, frequencies, means.runner)
            rows = block.ids, block.places, np.diff(block.tokens.offsets), block.skipped
            yield record, _SegmentFile(folder / SEGMENTS / name), rows
            del block


def _check_no_scheme(chosen: Mapping[str, Any]) -> None:
    for name in chosen:
        message = f"{name} has no effect with an index, which has its own; leave it out"
        raise InvalidParameterError(message, name)


# Defaults for contained passages: any long passage contains the frequent words of a shorter one, so
# words of all documents must weigh next to nothing.
_CONTAINED = PassagePreset("0.65", recall="0.95", min_tokens=40, scheme={"idf": "standard"})


def plan_alignment(options: AlignOptions, scheme: PassageScheme) -> AlignmentPlan:
    """Plan an alignment for the scheme of an index."""
    usual, times = usual_of(options), options.most_times
    threshold = exact_fraction(
        "threshold", usual.threshold if options.threshold is None else options.threshold
    )
    least = scheme.min_tokens if options.min_tokens is None else options.min_tokens
    n_shingles, length = scheme.count_shingles(least), scheme.least_shingles
    recall = usual.recall if options.recall is None else options.recall
    of_windows = threshold
    if recall is None and usual.window_threshold is not None:
        of_windows = min(exact_fraction("threshold", usual.window_threshold), threshold)
    if recall is not None:
        of_windows = choose_seed_threshold(
            n_shingles,
            jaccard_of_share(threshold) if times else threshold,
            length,
            step_of(length),
            exact_fraction("recall", recall),
        )
        of_windows = share_of_jaccard(of_windows) if times else of_windows
    search = make_search_plan(scheme, of_windows, Fraction(1), times)
    # The shingles between two parts include shingles that share tokens with a part.
    gap = None if usual.gap is None else scheme.count_tokens(usual.gap)
    plan = make_alignment_plan(search, n_shingles, gap, threshold)
    return replace(plan, misses_few=recall is not None, is_once=usual.is_once)


def describe_choices(options: AlignOptions, scheme: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preset's choices, without a scheme for an index."""
    usual = passages_for(options.preset)
    row: dict[str, Any] = {"threshold": usual.threshold, "recall": usual.recall}
    # Options not given are taken from the preset.
    own = {name: value for name, value in row.items() if getattr(options, name) is None}
    row["gap"] = own["gap"] = usual.gap
    if scheme:
        row |= {"min_tokens": usual.min_tokens, **usual.scheme}
        own |= {"min_tokens": options.min_tokens, **scheme}
    return describe_preset(options.preset, row, own)


def recall_of(plan: AlignmentPlan) -> float:
    """Return the predicted recall of a shortest passage at the threshold."""
    search, similarities = plan.search, (plan.threshold, plan.search.threshold)
    if search.times:
        similarities = (jaccard_of_share(plan.threshold), jaccard_of_share(search.threshold))
    return passage_recall(plan.min_tokens, similarities[0], plan.length, plan.step, similarities[1])


def usual_of(options: AlignOptions) -> PassagePreset:
    """Return the defaults of options that are not given."""
    if options.preset is None and options.measure != "jaccard":
        return _CONTAINED
    return passages_for(options.preset)
