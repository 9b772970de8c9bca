"""An index as what documents are compared against: the plan, the look-up, what is added to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from neardup.documents.additions import Adding
from neardup.documents.index import DocumentHandle, OpenDocuments
from neardup.documents.lookup import SharedIndex, find_answers
from neardup.documents.queries import Queries, join_queries, make_queries
from neardup.documents.reading import ReadDocuments, read_block
from neardup.documents.scheme import DocumentScheme, check_alike
from neardup.engine.engine import Engine, Read, Revisited
from neardup.engine.workspaces import state_of_index
from neardup.errors import InvalidParameterError
from neardup.files.rows import ColumnNames, Source
from neardup.index.changes import check_unknown
from neardup.index.store import created_index, index_named
from neardup.matching.keep import parse_keep
from neardup.matching.measures import Measure
from neardup.options.documents import DedupOptions, DocumentSchemeOptions
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import LookUp, SignedTexts
from neardup.reading.signed_batches import (
    SignedBatches,
    counted_shingles,
    filters_of,
    numbers_of,
    take_filters,
)
from neardup.reading.texts import IdLookup
from neardup.stages.contents import Contents
from neardup.stages.decide import Assignment
from neardup.stages.options import columns_of, make_document_scheme, weights_for
from neardup.stages.plan import DedupPlan, check_method
from neardup.stages.selection import KeeperIds
from neardup.tables import Bools, EarlierKeepers, Int8s, Int64s, TokenLists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.text.weighting import DocumentFrequencies


# The plan of a deduplication against an index, which decides what counts as similar.


def plan_with_index(
    options: DedupOptions, scheme: DocumentScheme, *, has_files: bool = False
) -> DedupPlan:
    """Check what goes with what, and with an index; what is not given is as the index has it.

    ``has_files`` says whether there are others to compare against.
    """
    if not has_files:
        options.check_no_other("with an index", "name files with against", "against")
    elif needs_all_texts(options):
        message = (
            "against names an index and other documents, which are compared together by method "
            "minhash, clusters survivors and without an audit; choose these, or one of the two"
        )
        raise InvalidParameterError(message, "against", "method", "clusters")
    check_method(options)
    weights_for(options, scheme.measure)
    check_alike(options, scheme)
    measure = scheme.measure_at(options.threshold)
    if options.add:
        _check_addition(options)
    keep = parse_keep(options.keep)
    reading = scheme.reading_plan(
        replace(columns_of(options), order=keep.columns), skip_bad=options.skip_bad
    )
    reading = replace(reading, with_lengths=keep.by_length)
    if options.method == "exact":
        reading = replace(reading, minhash=None, banding=None, filters_for=None)
    options = options.but(recall=scheme.recall)
    return DedupPlan(options, measure, scheme.banding, scheme.minhash, keep, reading)


def needs_all_texts(options: DedupOptions) -> bool:
    """Return whether all texts of an index are read, as those of a collection are."""
    return (
        options.clusters == "components" or options.method != "minhash" or options.audit is not None
    )


def _check_addition(options: DedupOptions) -> None:
    """Raise for what would not add the same documents as one run over all of them."""
    for name, is_unlike, remedy in (
        ("clusters", options.clusters != "survivors", "choose clusters survivors"),
        ("method", options.method != "minhash", "choose method minhash"),
        ("audit", options.audit is not None, "leave it out"),
    ):
        if is_unlike:
            message = (
                f"{name} compares with all texts of the index, which add never reads; {remedy}"
            )
            raise InvalidParameterError(message, name, "add")


@dataclass(frozen=True)
class Other:
    """What documents are compared against, and the plan that goes with it.

    ``sources`` are read as a collection; documents of an ``index`` are looked up, beside them.
    ``new`` is the next state of the index, where what stays is added. ``state`` says of an index
    which one it is, and changes when it does.
    """

    plan: DedupPlan
    sources: Sequence[Source]
    index: OpenDocuments | None = None
    new: Adding | None = None
    state: Mapping[str, str] | None = None


@contextmanager
def open_index(
    handle: DocumentHandle,
    sources: Sequence[Source],
    options: DedupOptions,
    engine: Engine,
    files: Sequence[Source] = (),
) -> Iterator[Other]:
    """Open an index to compare documents of some sources against, and against those of ``files``.

    Where what stays is added, the index is locked for other writers as long as the block lasts, and
    has the documents when it ends well; nothing, if an error ends it. Where there is none, it is
    made by the options.
    """
    from neardup.documents.additions import adding

    runner = engine.runner
    options.check_reads_text()
    if not options.add:
        index = handle.view(runner)
        plan = plan_with_index(options, index.scheme, has_files=bool(files))
        if needs_all_texts(options):
            if index.denied:
                message = (
                    "against is an index with denied documents, which only minhash looks up, and "
                    "clusters survivors, without an audit; choose these"
                )
                raise InvalidParameterError(message, "against", "clusters")
            from neardup.documents.other import DocumentIndexSource

            state = state_of_index(handle.folder, index.manifest)
            yield Other(plan, [DocumentIndexSource(index, handle.folder)], state=state)
        else:
            frequencies = _count(index, plan, sources, engine)
            yield _looked_up(index, handle, options, frequencies, files)
        return
    with _made(handle, options), handle.changing(runner) as opened:
        index = handle.read(opened)
        plan = plan_with_index(options, index.scheme, has_files=bool(files))
        frequencies = _count(index, plan, sources, engine)
        # No documents decide nothing.
        decided = frequencies if frequencies and frequencies.n_documents else None
        with adding(handle, opened, runner, frequencies=decided) as new:
            yield replace(_looked_up(new.index, handle, options, frequencies, files), new=new)


def _made(handle: DocumentHandle, options: DedupOptions) -> AbstractContextManager[None]:
    """Make an index where there is none, as long as no error ends the block."""
    if index_named(handle.folder) is not None:
        return nullcontext()
    # Columns of results are no columns that an index keeps.
    names = set(DocumentSchemeOptions.known) & set(DedupOptions.known) - {"columns", "preset"}
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    scheme = make_document_scheme(DocumentSchemeOptions(**given))
    return created_index(handle.folder, scheme.describe())


def _count(
    index: OpenDocuments,
    plan: DedupPlan,
    sources: Sequence[Source],
    engine: Engine,
) -> DocumentFrequencies | None:
    """Count shingles for an index that weighs them by what is added first, before there is any."""
    if not index.scheme.needs_frequencies:
        return None
    with engine.stage("count"), engine.errors():
        counted = counted_shingles([(sources, columns_of(plan.options))], plan.reading)
        return engine.count("count", counted)


def _looked_up(
    index: OpenDocuments,
    handle: DocumentHandle,
    options: DedupOptions,
    frequencies: DocumentFrequencies | None,
    files: Sequence[Source],
) -> Other:
    index = replace(index, scheme=index.scheme.with_frequencies(frequencies))
    plan = plan_with_index(options, index.scheme, has_files=bool(files))
    look_up = IndexLookUp(SharedIndex(handle.folder, index), plan.measure)
    plan = replace(plan, reading=replace(plan.reading, look_up=look_up))
    return Other(plan, files, index, state=state_of_index(handle.folder, index.manifest))


class IndexLookUp(LookUp):
    """Finds the documents of an index that texts go for, at a measure.

    Other processes open it by themselves.
    """

    def __init__(self, index: SharedIndex, measure: Measure) -> None:
        self._index, self._measure = index, measure

    def sign(self, token_lists: TokenLists) -> Queries:
        """Work out of some texts what the index looks up."""
        return make_queries(token_lists, self._index.opened.scheme)

    def find(self, signed: Sequence[SignedTexts]) -> EarlierKeepers:
        """Find the document that each text goes for."""
        queries = [each for each in signed if isinstance(each, Queries)]
        if not queries:
            return EarlierKeepers.none(0)
        answers = find_answers(self._index.opened, join_queries(queries), self._measure)
        return EarlierKeepers(
            answers.documents,
            answers.overlaps,
            answers.sizes,
            answers.similarities,
            answers.are_settled,
            answers.are_copies,
        )


# Where those are for which documents went, where an index was looked into.

INPUT, AGAINST, INDEX, DENIED, DENIED_BY_ESTIMATE = range(5)
_SIDES = ("input", "against", "index", "denied-exact", "denied-estimated")
# What an index is called that is all that documents are compared against.
_SIDES_OF_INDEX = ("input", "against", "against", *_SIDES[3:])


def keeper_sides(index: OpenDocuments, contents: Contents, assignment: Assignment) -> Int8s:
    """Return where that is for which each document went; one that stays is of the input."""
    assert contents.earlier is not None
    documents, keepers = contents.earlier.index_documents, assignment.keepers
    sides: Int8s = np.full(len(keepers), INPUT, np.int8)
    sides[(keepers >= 0) & (keepers < contents.n_others)] = AGAINST
    rows = np.flatnonzero((keepers >= 0) & (keepers < len(documents)))
    is_denied = documents[keepers[rows]] >= index.first_denied
    sides[rows] = np.where(is_denied, DENIED_BY_ESTIMATE, INDEX)
    sides[rows[is_denied & assignment.exact[rows]]] = DENIED
    return sides


def name_sides(sides: Int8s, *, has_files: bool) -> pa.DictionaryArray:
    """Return sides as tables call them."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(sides, _SIDES if has_files else _SIDES_OF_INDEX)


# The stage add: what stays of a collection goes into an index, which is told what went.


def _read_signed(columns: ColumnNames, scheme: DocumentScheme, found: Revisited) -> ReadDocuments:
    """Read some documents of a block; what is signed of them is not signed again."""
    queries = _queries_of(found.rows, np.flatnonzero(found.select), scheme.banding.bands)
    return read_block(
        found.source, found.block, columns, scheme, select=found.select, queries=queries
    )


@dataclass(frozen=True)
class Added:
    """What of a collection goes into an index, and what it is told of.

    Those that ``stay`` are added; of what ``went`` the index is told.
    """

    stay: Bools
    went: Bools


def add_survivors(
    engine: Engine, read: Read, new: Adding, other: Catalogue, assignment: Assignment, added: Added
) -> int:
    """Add the documents that stay, and note those that went; returns how many were added.

    ``read`` are the signed documents, of the last collection those that are added, and ``other``
    those for which some went.
    """
    own = read.catalogues[-1]
    count = engine.runner.counter("add", int(added.stay.sum()))
    n_added = 0
    reading = partial(_read_signed, own.columns, new.index.scheme)
    for documents in engine.revisit(read, added.stay, reading):
        ids = documents.batch.ids
        check_unknown(new.index, ids, documents.places, own.columns)
        new.writer.add(documents.batch)
        n_added += len(ids)
        count(len(ids))
    own_ids = IdLookup(own)
    kept_ids = KeeperIds(own, other, assignment.keepers, shares_ids=True)
    for start, digests in read.known.of_last.digests():
        gone = start + np.flatnonzero(added.went[start : start + len(digests)])
        new.writer.add_gone(
            own_ids.take(gone),
            kept_ids.take(assignment.keepers[gone]),
            digests.values[gone - start],
            assignment.similarities[gone],
        )
    return n_added


def find_known(
    index: OpenDocuments, batches: SignedBatches, own: Catalogue, assignment: Assignment
) -> Bools:
    """Return which documents are in the index themselves, with the same id and the same tokens.

    So it is where a run is repeated that had added them.
    """
    are_known: Bools = np.zeros(len(own), np.bool_)
    ids = IdLookup(own)
    may_be = assignment.exact | (own.n_tokens == 0)
    for start, digests in batches.digests():
        rows = start + np.flatnonzero(may_be[start : start + len(digests)])
        documents = index.documents_of_ids(ids.take(rows))
        rows, documents = rows[documents >= 0], documents[documents >= 0]
        order = np.argsort(documents)
        rows, documents = rows[order], documents[order]
        is_same = index.digests_of(documents) == digests.values[rows - start]
        are_known[rows[is_same.all(axis=1)]] = True
    return are_known


def _queries_of(batch: pa.RecordBatch, rows: Int64s, n_bands: int) -> Queries:
    """Return what was signed of some documents of a batch."""
    digests = np.column_stack(
        [numbers_of(batch, f"digest_{half}")[rows] for half in ("low", "high")]
    )
    keys = np.column_stack([numbers_of(batch, f"key_{band}")[rows] for band in range(n_bands)])
    filters = filters_of(batch)
    if filters is not None:
        filters = take_filters(filters, rows)
    return Queries(numbers_of(batch, "n_tokens")[rows], digests, keys, filters, None)
