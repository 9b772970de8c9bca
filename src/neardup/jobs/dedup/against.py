"""Deduplication against an index: plan, lookup, and additions to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from neardup.documents.document_handle import (
    Adding,
    DocumentHandle,
    ReadDocuments,
    check_decided,
    read_selected,
)
from neardup.documents.open_documents import OpenDocuments, find_keepers
from neardup.documents.queries import Queries, join_queries, make_queries
from neardup.documents.records import make_gone
from neardup.documents.scheme import DocumentScheme, check_alike
from neardup.engine.engine import Engine, Read, Revisited
from neardup.engine.opening import state_of_index
from neardup.errors import InvalidParameterError
from neardup.files.rows import ColumnNames, Source
from neardup.index.open_index import IndexSource, SharedIndex, check_unknown
from neardup.index.store import created_index, index_named
from neardup.matching.measures import Measure
from neardup.options.document_options import DedupOptions, DocumentSchemeOptions
from neardup.reading.catalogue import Catalogue, IdLookup, parse_keep
from neardup.reading.sign import (
    SignedBatches,
    TextLookUp,
    digests_of,
    filters_of,
    keys_of,
    numbers_of,
    shingle_collections,
    take_filters,
)
from neardup.stages.decide import DedupContents
from neardup.stages.options import (
    DedupPlan,
    Reference,
    check_method,
    columns_of,
    make_document_scheme,
    weights_for,
)
from neardup.stages.selection import KeeperIds
from neardup.tables import Assignment, Bools, IndexKeepers, Int8s, TokenLists


def _check_with_index(options: DedupOptions, scheme: DocumentScheme) -> None:
    """Check combinations of options with an index, which provides the defaults."""
    options.check_no_other("with an index", "name files with against", "against")
    check_method(options)
    weights_for(options, scheme.measure)
    check_alike(options, scheme)
    scheme.measure_at(options.threshold)
    if options.add and _needs_all_texts(options):
        message = "add needs method minhash and clusters survivors, without an audit; choose these"
        raise InvalidParameterError(message, "add")


def _plan_with_index(
    options: DedupOptions, scheme: DocumentScheme, look_up: TextLookUp | None = None
) -> DedupPlan:
    keep = parse_keep(options.keep)
    columns = replace(columns_of(options), order=keep.columns)
    reading = scheme.reading_plan(columns, skip_bad=options.skip_bad)
    reading = replace(reading, with_lengths=keep.by_length, look_up=look_up)
    if options.method == "exact":
        reading = replace(reading, minhash=None, banding=None, filters_for=None)
    measure, options = scheme.measure_at(options.threshold), options.but(recall=scheme.recall)
    return DedupPlan(options, measure, scheme.banding, scheme.minhash, keep, reading)


def _needs_all_texts(options: DedupOptions) -> bool:
    """Return whether all texts of an index are read."""
    return (
        options.clusters == "components" or options.method != "minhash" or options.audit is not None
    )


@contextmanager
def open_index(
    handle: DocumentHandle, sources: Sequence[Source], options: DedupOptions, engine: Engine
) -> Iterator[Reference]:
    """Open an index as a reference.

    For additions, the index is locked for other writers within the block, and has the documents
    when the block ends; an error adds none. A missing index is created with the options.
    """
    runner = engine.runner
    if options.add:
        with _made(handle, options), handle.changing(runner) as index:
            _check_with_index(options, index.scheme)
            frequencies = None
            if index.scheme.needs_frequencies:
                plan = _plan_with_index(options, index.scheme)
                with engine.stage("count"):
                    counted = shingle_collections([(sources, columns_of(options))], plan.reading)
                    frequencies = engine.count("count", counted)
            with handle.adding(index, runner, frequencies=frequencies) as new:
                yield replace(_look_up_in(handle, new.index, options), new=new)
        return
    index = handle.view(runner)
    _check_with_index(options, index.scheme)
    check_decided(index.scheme)
    if not _needs_all_texts(options):
        yield _look_up_in(handle, index, options)
        return
    if index.denied.numbers:
        message = (
            "against is an index with denied documents, which only minhash looks up, and "
            "clusters survivors, without an audit; choose these"
        )
        raise InvalidParameterError(message, "against", "clusters")
    source = IndexSource(index, handle.folder)
    state = state_of_index(handle.folder, index.manifest)
    yield Reference(_plan_with_index(options, index.scheme), [source], state=state)


def _look_up_in(handle: DocumentHandle, index: OpenDocuments, options: DedupOptions) -> Reference:
    look_up = IndexLookUp(handle.share(index), index.scheme.measure_at(options.threshold))
    plan = _plan_with_index(options, index.scheme, look_up)
    return Reference(plan, [], index, state=state_of_index(handle.folder, index.manifest))


def _made(handle: DocumentHandle, options: DedupOptions) -> AbstractContextManager[None]:
    """Create a missing index, unless an error ends the block."""
    if index_named(handle.folder) is not None:
        return nullcontext()
    # Columns of results are not columns of an index.
    names = set(DocumentSchemeOptions.known) & set(DedupOptions.known) - {"columns", "preset"}
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    scheme = make_document_scheme(DocumentSchemeOptions(**given))
    return created_index(handle.folder, scheme.describe())


class IndexLookUp(TextLookUp):
    """Find the index documents that texts duplicate, at a measure.

    Other processes open the index themselves.
    """

    def __init__(self, index: SharedIndex[OpenDocuments], measure: Measure) -> None:
        self._index, self._measure = index, measure

    def sign(self, token_lists: TokenLists) -> Queries:
        """Compute the lookup keys of texts."""
        return make_queries(token_lists, self._index.opened.scheme)

    def find(self, signed: Sequence[Queries]) -> IndexKeepers:
        """Find the keeper of each text."""
        if not signed:
            return IndexKeepers.none(0)
        return find_keepers(self._index.opened, join_queries(signed), self._measure)


# Locations of keepers, if an index was searched, and their names in tables.

INPUT, INDEX, DENIED = range(3)
SIDES = ("input", "against", "denied")


def keeper_sides(index: OpenDocuments, contents: DedupContents, assignment: Assignment) -> Int8s:
    """Return the side of each document's keeper, input if kept."""
    assert contents.index_removals is not None
    documents, keepers = contents.index_removals.index_documents, assignment.keepers
    sides: Int8s = np.full(len(keepers), INPUT, np.int8)
    rows = np.flatnonzero((keepers >= 0) & (keepers < len(documents)))
    is_denied = documents[keepers[rows]] >= index.first_denied
    sides[rows] = np.where(is_denied, DENIED, INDEX)
    return sides


def add_to_index(
    engine: Engine, read: Read, new: Adding, other: Catalogue, assignment: Assignment, sides: Int8s
) -> tuple[Assignment, dict[str, Any]]:
    """Add the kept documents, and record the removed ones.

    Documents that the index has already, because a run is repeated, stay as before. ``other`` are
    the keepers' collection, ``sides`` the sides of the keepers. Returns the assignment with the
    known documents kept, and the entries of the summary.
    """
    own, signed = read.catalogues[-1], read.signed.of_last
    # The index records documents removed in favour of its own or of an added one.
    is_recorded = (sides == INPUT) | (sides == INDEX)
    went = ~assignment.stays & is_recorded
    # A known document stays unless a file now has it, or it is denied.
    are_known = find_known(new.index, signed, own, assignment) & is_recorded
    assignment = assignment.without(are_known)
    stay, went = assignment.stays & own.is_document & ~are_known, went & ~are_known
    count = engine.runner.counter("add", int(stay.sum()))
    n_added = 0
    reading = partial(_read_signed, own.columns, new.index.scheme)
    for documents in read.revisit(stay, reading):
        ids = documents.batch.ids
        check_unknown(new.index, ids, documents.places, own.columns)
        new.writer.add(documents.batch)
        n_added += len(ids)
        count(len(ids))
    own_ids = IdLookup(own)
    kept_ids = KeeperIds(own, other, assignment.keepers, shares_ids=True)
    for start, digests in signed.digests():
        gone = start + np.flatnonzero(went[start : start + len(digests)])
        left_out = digests.values[gone - start]
        names = own_ids.take(gone), kept_ids.take(assignment.keepers[gone])
        new.gone.append(make_gone(*names, left_out, assignment.similarities[gone]))
    return assignment, {"documents_added": n_added, "documents_known": int(are_known.sum())}


def _read_signed(columns: ColumnNames, scheme: DocumentScheme, found: Revisited) -> ReadDocuments:
    batch, rows = found.signed, np.flatnonzero(found.select)
    n_tokens, digests = numbers_of(batch, "n_tokens")[rows], digests_of(batch).values[rows]
    keys, filters = keys_of(batch, scheme.banding.bands, rows), filters_of(batch)
    own_filters = None if filters is None else take_filters(filters, rows)
    signed = Queries(n_tokens, digests, keys, own_filters, None)
    return read_selected(found.source, found.block, columns, scheme, found.select, signed)


def find_known(
    index: OpenDocuments, batches: SignedBatches, own: Catalogue, assignment: Assignment
) -> Bools:
    """Return a mask of documents that an earlier run has added."""
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
