"""The job: the stages of deduplication in order, from sources to the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neardup.documents.additions import Adding
from neardup.documents.index import OpenDocuments
from neardup.documents.lookup import find_answers
from neardup.documents.queries import Queries, join_queries, make_queries
from neardup.documents.reading import ReadDocuments, read_block
from neardup.files.input_options import check_effect
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.indexes.changes import check_unknown
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.other import Other
from neardup.jobs.dedup.summary import summarise
from neardup.matching.measures import Measure
from neardup.reading.catalogue import Catalogue, HeldIds
from neardup.reading.second_pass import file_has_changed, numbered_blocks
from neardup.reading.sign import LookUp, SignedTexts
from neardup.reading.signed_batches import (
    SignedBatches,
    count_shingles,
    filters_of,
    numbers_of,
    take_filters,
    with_frequencies,
)
from neardup.reading.texts import IdLookup
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.contents import find_contents, sign_documents
from neardup.stages.decide import (
    Assignment,
    assign,
    check_fits,
    choose_by_buckets,
    choose_exactly,
    choose_method,
)
from neardup.stages.options import to_be_counted
from neardup.stages.plan import DedupPlan
from neardup.stages.selection import KeeperIds
from neardup.tables import Bools, EarlierKeepers, Int64s, TokenLists

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace


# An index of documents as the other collection of a deduplication.


class IndexLookUp(LookUp):
    """Finds the documents of an index that texts go for, at a measure."""

    def __init__(self, index: OpenDocuments, measure: Measure) -> None:
        self._index, self._measure = index, measure

    def sign(self, token_lists: TokenLists) -> Queries:
        """Work out of some texts what the index looks up."""
        return make_queries(token_lists, self._index.scheme)

    def find(self, signed: Sequence[SignedTexts]) -> EarlierKeepers:
        """Find the document that each text goes for."""
        queries = [each for each in signed if isinstance(each, Queries)]
        if not queries:
            return EarlierKeepers.none(0)
        answers = find_answers(self._index, join_queries(queries), self._measure)
        return EarlierKeepers(
            answers.documents,
            answers.overlaps,
            answers.sizes,
            answers.similarities,
            answers.are_settled,
            answers.are_copies,
        )


def catalogue_of(index: OpenDocuments, documents: Int64s) -> Catalogue:
    """Return the catalogue of some documents of an index, of which only ids are known."""
    n = len(documents)
    return Catalogue(
        sources=(),
        columns=ColumnNames(id="id"),
        source_starts=np.zeros(1, np.int64),
        numbers=documents,
        n_tokens=np.zeros(n, np.int64),
        lengths=None,
        ids=HeldIds(index.ids_of(documents)),
        order=None,
        text_bytes=0,
    )


# The stage add: what stays of a collection goes into an index, which is told what went.


def add_survivors(
    new: Adding,
    batches: SignedBatches,
    own: Catalogue,
    other: Catalogue,
    assignment: Assignment,
    are_known: Bools,
    runner: Runner,
) -> int:
    """Add the documents that stay, and note those that went; returns how many were added.

    ``batches`` are the signed documents of ``own``, which are not signed again, and ``other`` those
    of the index for which some went. Those that ``are_known`` are there.
    """
    stays = assignment.stays & own.is_document & ~are_known

    def read(item: _Part) -> ReadDocuments:
        select = stays[item.rows]
        queries = _queries_of(item.batch, np.flatnonzero(select), batches.n_bands)
        return read_block(
            item.source, item.block, own.columns, new.scheme, select=select, queries=queries
        )

    count = runner.counter("add", int(stays.sum()))
    n_added = 0
    for documents in runner.map(read, _parts(batches, own, stays)):
        ids = documents.batch.ids
        check_unknown(new.index, ids, documents.places, own.columns)
        new.add(documents.batch)
        n_added += len(ids)
        count(len(ids))
    _note_gone(new, batches, own, other, assignment)
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


@dataclass(frozen=True)
class _Part:
    """A block that is read again, the numbers of its documents, and what was signed of them."""

    source: Source
    block: RowBlock
    rows: slice
    batch: pa.RecordBatch


def _parts(batches: SignedBatches, own: Catalogue, stays: Bools) -> Iterator[_Part]:
    """Yield the blocks of which some document stays."""
    signed = iter(batches)
    for source, start, stop in own.ranges():
        for block, rows in numbered_blocks(source, start, stop):
            first, batch = next(signed)
            if first != rows.start or len(batch) != len(block):
                raise file_has_changed(source.name)
            if stays[rows].any():
                yield _Part(source, block, rows, batch)


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


def _note_gone(
    new: Adding, batches: SignedBatches, own: Catalogue, other: Catalogue, assignment: Assignment
) -> None:
    own_ids = IdLookup(own)
    kept_ids = KeeperIds(own, other, assignment.keepers, shares_ids=True)
    for start, digests in batches.digests():
        gone = start + np.flatnonzero(~assignment.stays[start : start + len(digests)])
        new.went(
            own_ids.take(gone),
            kept_ids.take(assignment.keepers[gone]),
            digests.values[gone - start],
            assignment.similarities[gone],
        )


def deduplicate_against(
    sources: Sequence[Source], other: Other, runner: Runner, workspace: Workspace = IN_MEMORY
) -> DeduplicationResult:
    """Run all stages but the writing against what ``open_index`` has opened."""
    result = deduplicate_sources(
        sources,
        other.sources,
        other.plan,
        runner,
        workspace,
        other.index,
        other.new,
        counted=other.counted,
    )
    if other.state is not None:
        folder = other.state["path"]
        listed = [{"name": Path(folder).name, "origin": folder}]
        result.summary |= {"against_files": 1, "against": listed}
    return result


def deduplicate_sources(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: DedupPlan,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
    index: OpenDocuments | None = None,
    new: Adding | None = None,
    *,
    counted: Sequence[Source] | None = None,
) -> DeduplicationResult:
    """Run all stages but the writing.

    What is compared against is ``against``, or the documents of an ``index``, which are looked up
    while the first pass reads; ``new`` gets what stays, and is told what went.

    Two passes over the files: the first signs every document, the second reads those again that
    may have a near-duplicate, for exact comparison. Weights by document frequencies need a pass of
    their own before, which counts documents: those of ``counted``, or, where that is None, those
    that are compared.
    """
    check_effect(plan.options, sources, against, counted or ())
    if plan.reading.needs_frequencies:
        with runner.stage("count"):
            collections = to_be_counted(plan.options, sources, against, counted)
            frequencies = count_shingles(collections, plan.reading, runner)
        plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
    if index is not None:
        look_up = IndexLookUp(index, plan.measure)
        plan = replace(plan, reading=replace(plan.reading, look_up=look_up))
    with runner.stage("read") as note:
        signed = sign_documents(sources, against, plan, workspace, runner)
        is_looked_up = index is not None
        contents = find_contents(signed, plan.keep, workspace, is_looked_up=is_looked_up)
        n_contents = contents.count()
        note(documents=len(contents.firsts), distinct_texts=n_contents)
    method, choice = plan.options.method, None
    if method == "auto":
        with runner.stage("choose method") as note:
            choice = choose_method(contents, plan, runner)
            note(method=choice.method)
        method = choice.method
    if method == "exact" or plan.options.audit:
        check_fits(contents, plan, workspace, "audit" if method == "minhash" else "method")
    if method == "minhash":
        decision = choose_by_buckets(signed.batches, contents, plan, workspace, runner)
    else:
        decision = choose_exactly(contents, plan, runner)
    assignment = assign(contents, decision)
    audit = None
    if plan.options.audit and method == "minhash":
        from neardup.jobs.dedup.audit import audit_contents

        with runner.stage("audit"):
            audit = audit_contents(signed.batches, contents, decision, plan, runner)
    other, n_against = contents.other, None
    if index is not None and contents.earlier is not None:
        other, n_against = catalogue_of(index, contents.earlier.index_documents), index.n_documents
    added: dict[str, int] = {}
    if new is not None:
        with runner.stage("add") as note:
            own, batches = contents.own, signed.batches
            are_known = find_known(new.index, batches, own, assignment)
            # Where a run is repeated they stay, as they did before.
            assignment = assignment.without(are_known)
            n_added = add_survivors(new, batches, own, other, assignment, are_known, runner)
            note(documents=n_added)
        added = {"documents_added": n_added, "documents_known": int(are_known.sum())}
    summary = summarise(
        contents, decision, assignment, plan, method, choice, audit, runner, n_against=n_against
    )
    summary |= added
    shares_ids = plan.options.add
    return DeduplicationResult(contents.own, other, assignment, summary, shares_ids=shares_ids)
