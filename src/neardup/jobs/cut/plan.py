"""Plan of a cut: its options, checked before work starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.files.cuts import Cuts
from neardup.files.rows import RowBlock, Source
from neardup.options.choices import CutUnit
from neardup.options.documents import DedupOptions
from neardup.options.groups import ShingleOptions, TokenOptions
from neardup.options.kinds import exact_fraction
from neardup.options.option import no_effect
from neardup.options.passages import DEFAULT_RECALL, CutOptions, PassageOptions
from neardup.passages.align import make_alignment_plan, make_window_scheme
from neardup.passages.cutting import CutPlan
from neardup.passages.plan import make_search_plan
from neardup.passages.windows import PassageScheme
from neardup.reading.catalogue import Catalogue, KeepPolicy, parse_keep
from neardup.reading.sign import ReadingPlan
from neardup.stages.options import DedupPlan, columns_of, other_columns_of, plan_deduplication
from neardup.tables import Bools, Floats, Int64s, Rows
from neardup.text.shingles import shingle_scheme

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace


DEFAULT_THRESHOLD = "0.8"
# Least tokens of cut units. Shorter lines are often equal by chance, such as a speaker's name;
# shorter passages are phrases.
LEAST_TOKENS: dict[CutUnit, int] = {"passages": 50, "paragraphs": 5, "lines": 5, "sentences": 5}


@dataclass(frozen=True)
class CutJobPlan:
    """Checked options as parameters of stages.

    Similar passages are found by ``passages`` and ``scheme``, similar paragraphs and lines by
    ``units``; equal ones need neither. ``min_tokens`` is the length of the shortest cut unit.
    """

    options: CutOptions
    unit: CutUnit
    keep: KeepPolicy
    reading: ReadingPlan
    min_tokens: int
    passages: CutPlan | None = None
    scheme: PassageScheme | None = None
    units: DedupPlan | None = None


def plan_cut(options: CutOptions, *, has_other: bool) -> CutJobPlan:
    """Check combinations of options, before any work starts."""
    options.check_other("against", is_given=has_other)
    keep = parse_keep(options.keep, may_be_none=True)
    if has_other and (keep.rule != "first" or keep.keeps_none):
        # All cut text has its copy in the other collection.
        raise no_effect("keep", "with against", "cut INPUT alone", "against")
    if keep.keeps_none and not (options.exact and options.unit in ("lines", "paragraphs")):
        message = (
            "keep none goes only with exact and unit lines or paragraphs, which are removed with "
            "all of their copies; choose these, or keep first"
        )
        raise InvalidParameterError(message, "keep", "exact", "unit")
    if options.exact:
        _check_exact(options)
    unit, least = options.unit or "passages", options.min_tokens
    min_tokens = LEAST_TOKENS[unit] if least is None else least
    reading = ReadingPlan(
        replace(columns_of(options), order=keep.columns),
        shingle_scheme(options.part(ShingleOptions, ngram=1)),
        skip_bad=options.skip_bad,
        with_lengths=keep.by_length,
    )
    plan = CutJobPlan(options, unit, keep, reading, min_tokens)
    if options.exact:
        return plan
    if unit == "passages":
        return _with_passages(plan)
    if unit == "sentences":
        message = (
            "unit sentences goes only if exact is set: spans of three overlap, and one that is "
            "similar to the next would go for it; set exact, or choose unit passages"
        )
        raise InvalidParameterError(message, "unit", "exact")
    if has_other:
        message = (
            f"unit {unit} goes with against only if exact is set: what is similar is "
            "looked for in one collection; set exact, or choose unit passages"
        )
        raise InvalidParameterError(message, "unit", "against", "exact")
    return replace(plan, units=_plan_units(options))


def _check_exact(options: CutOptions) -> None:
    for name in ("threshold", "recall", "num_perm", "seed", "ngram"):
        if getattr(options, name) is not None:
            raise no_effect(name, "with exact", "leave out exact", "exact")


def _with_passages(plan: CutJobPlan) -> CutJobPlan:
    options = plan.options
    recall = _window_recall(options)
    of_index = vars(options.part(PassageOptions, min_tokens=plan.min_tokens))
    # Min-hashes are made only on request.
    scheme = make_window_scheme(**(of_index | ({"num_perm": 0} if recall == 1 else {})))
    threshold = DEFAULT_THRESHOLD if options.threshold is None else options.threshold
    search = make_search_plan(scheme, exact_fraction("threshold", threshold), recall)
    # No gaps: text between two parts of a passage may be unique.
    alignment = make_alignment_plan(
        search, scheme.count_shingles(plan.min_tokens), gap=scheme.count_tokens(0)
    )
    return replace(plan, passages=CutPlan(alignment, options.min_documents), scheme=scheme)


def _window_recall(options: CutOptions) -> Fraction:
    """Return the recall of windows: 1 without options of min-hashes."""
    given = [name for name in ("num_perm", "seed") if getattr(options, name) is not None]
    if options.num_perm == 0:
        given.clear()
    if options.recall is None:
        return DEFAULT_RECALL if given else Fraction(1)
    least = exact_fraction("recall", options.recall)
    if least == 1 and given:
        raise no_effect(given[0], "with a recall of 1", "ask for less", "recall")
    return least


def _plan_units(options: CutOptions) -> DedupPlan:
    names = ("threshold", "recall", "num_perm", "seed", "on_error", *TokenOptions.known)
    chosen = {name: getattr(options, name) for name in names}
    return plan_deduplication(DedupOptions(**chosen, method="minhash"))


@dataclass(frozen=True)
class CutSpans(Rows):
    """Spans to cut, one per row, with their kept copies.

    ``documents`` are numbered in the collection that is cut; ``kept_documents`` in both, the other
    collection first. Starts and stops (exclusive) are characters of the whole texts. Rows are
    sorted by document and start; spans of a document may overlap.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats

    def order(self) -> Int64s:
        """Return the order by document, start, stop and kept copy."""
        keys = (self.kept_starts, self.kept_documents, self.stops, self.starts, self.documents)
        return np.lexsort(keys)

    def in_order(self) -> CutSpans:
        """Return the rows in ``order``."""
        return self.take(self.order())

    def parts(self) -> Iterator[CutSpans]:
        """Yield all rows, in parts of whole documents."""
        yield self

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        first, last = np.searchsorted(self.documents, [documents.start, documents.stop])
        return self.take(slice(first, last))


class Spans(Protocol):
    """Interface of spans to cut, in memory or in files."""

    def __len__(self) -> int: ...

    def parts(self) -> Iterator[CutSpans]:
        """Yield rows by document and start, splitting no document."""
        ...

    def of_documents(self, documents: slice) -> CutSpans:
        """Return the rows of some consecutive documents."""
        ...


@dataclass(frozen=True)
class Gaps(Rows):
    """Disjoint, separated cuts by document and start, as of ``CutSpans``."""

    documents: Int64s
    starts: Int64s
    stops: Int64s

    @property
    def n_characters(self) -> int:
        """Total characters of the cuts."""
        return int((self.stops - self.starts).sum())


def merge_spans(spans: CutSpans) -> Gaps:
    """Join spans that overlap or adjoin."""
    if not len(spans):
        return Gaps(spans.documents, spans.starts, spans.stops)
    # Offset the positions of each document by more than any text's length.
    room = int(spans.stops.max()) + 2
    base = spans.documents * room
    starts, stops = base + spans.starts, base + spans.stops
    reached = np.maximum.accumulate(stops)
    heads = np.flatnonzero(np.concatenate([[True], starts[1:] > reached[:-1]]))
    ends = reached[np.append(heads[1:], len(starts)) - 1]
    documents = spans.documents[heads]
    return Gaps(documents, starts[heads] - documents * room, ends - documents * room)


def take_out(
    columns: tuple[str, ...], replacement: str, spans: Spans, block: RowBlock, rows: slice
) -> RowBlock:
    """Cut spans from the texts of a block in ``columns``.

    ``rows`` are the documents of the block; spans use the same document numbers.
    """
    gaps = merge_spans(spans.of_documents(rows))
    if not len(gaps):
        return block
    documents = gaps.documents - rows.start
    return block.with_cuts(Cuts(columns, documents, gaps.starts, gaps.stops, replacement))


def spans_in(spans: Spans, documents: slice) -> pa.RecordBatch:
    """Return the spans of some consecutive documents as a batch."""
    return spans.of_documents(documents).to_batch()


def join_spans(batches: Iterator[pa.RecordBatch], _: Workspace) -> CutSpans:
    """Return the spans of some batches."""
    return CutSpans.of_batches(list(batches))


@dataclass(frozen=True)
class Extent:
    """Amount of cuts: spans, affected documents, and total characters.

    ``keepers`` are the documents with kept copies, ascending, numbered in both collections.
    """

    spans: int
    documents: int
    characters: int
    keepers: Int64s

    @classmethod
    def of(cls, spans: Spans, n_documents: int) -> Extent:
        """Sum over all parts, given the size of both collections."""
        n_cut = n_characters = 0
        have: Bools = np.zeros(n_documents, np.bool_)
        for part in spans.parts():
            gaps = merge_spans(part)
            n_cut += len(np.unique(gaps.documents))
            n_characters += gaps.n_characters
            have[part.kept_documents] = True
        return cls(len(spans), n_cut, n_characters, np.flatnonzero(have))


def count_documents(groups: Int64s, documents: Int64s, n_groups: int) -> Int64s:
    """Count the distinct documents of groups, given their member rows."""
    order = np.lexsort((documents, groups))
    groups, documents = groups[order], documents[order]
    is_new = (np.diff(groups, prepend=-1) != 0) | (np.diff(documents, prepend=-1) != 0)
    counts: Int64s = np.bincount(groups[is_new], minlength=n_groups)
    return counts


def read_collections(
    sources: Sequence[Source], against: Sequence[Source], plan: CutJobPlan
) -> list[tuple[Sequence[Source], ReadingPlan]]:
    """Return both collections with reading plans, the other one first."""
    other = plan.reading.for_other(other_columns_of(plan.options))
    return [(against, other), (sources, plan.reading)]


def keep_order(own: Catalogue, keep: KeepPolicy) -> Int64s:
    """Return the documents of a collection in keep order."""
    return np.ascontiguousarray(keep.order(len(own), own.lengths, own.order), np.int64)


def keep_ranks(own: Catalogue, keep: KeepPolicy) -> Int64s:
    """Return the place of each document in keep order."""
    ranks: Int64s = np.empty(len(own), np.int64)
    ranks[keep_order(own, keep)] = np.arange(len(own))
    return ranks
