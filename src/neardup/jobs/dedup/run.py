"""``deduplicate``: stages of a deduplication in order, and the summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Engine, Read
from neardup.engine.opening import key_of, open_engine
from neardup.errors import InvalidParameterError
from neardup.files.documents import keep_extracted
from neardup.files.inputs import Inputs, passed_over, resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.matching.buckets import list_prefixes
from neardup.matching.measures import Measure, overlaps_at_threshold
from neardup.options.choices import (
    Clusters,
    Data,
    DataOrIndex,
    DocumentMeasure,
    DocumentPreset,
    Method,
    Number,
)
from neardup.options.document_options import DedupOptions
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.option import merge
from neardup.reading.catalogue import Catalogue
from neardup.reading.sign import (
    SignedBatches,
    describe_filtered,
    keys_of,
    rows_where,
    shingle_collections,
)
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.sketches.kind import wilson_intervals
from neardup.stages.decide import (
    DedupContents,
    assign,
    choose_by_buckets,
    choose_exactly,
    find_contents,
    sign_documents,
)
from neardup.stages.options import (
    DedupPlan,
    Reference,
    counted_collections,
    describe_inputs,
    describe_reading,
    hints_of_short,
    plan_deduplication,
    with_warning,
)
from neardup.stages.selection import complete_summary, count_by_file, write_rows_by
from neardup.tables import (
    Assignment,
    Bools,
    Int64s,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
    offsets_of,
)

if TYPE_CHECKING:
    from neardup.documents.document_handle import DocumentHandle
    from neardup.documents.open_documents import OpenDocuments


class DedupJob:
    """A deduplication with checked options, which resolves inputs on access."""

    def __init__(
        self,
        options: DedupOptions,
        resolve: Callable[[Any, DedupOptions], Inputs],
        data: Any,
        against: Any = None,
        *,
        index: DocumentHandle | None = None,
    ) -> None:
        self.options, self.index, self._resolve = options, index, resolve
        self._data, self._against = data, against
        has_other, has_index = against is not None, index is not None
        # The first of several additions has created the index with this preset.
        if has_index and not options.add:
            options.check_no_preset()
        self.plan = None if has_index else plan_deduplication(options, has_other=has_other)
        needs_whole = {
            "method": options.method != "minhash",
            "audit": options.audit is not None,
            "clusters": has_index and options.clusters == "components",
        }
        # Given options that need all documents in one process.
        self.whole = [name for name, is_given in needs_whole.items() if is_given]

    @cached_property
    def sources(self) -> Inputs:
        """The documents to be deduplicated."""
        return rows_where(self._resolve(self._data, self.options), self.options.where)

    @cached_property
    def others(self) -> Sequence[Source]:
        """The reference documents except index documents."""
        return [] if self._against is None else self._resolve(self._against, self.options)

    @contextmanager
    def open_reference(self, engine: Engine) -> Iterator[Reference]:
        """Resolve all inputs, and open the index within the block."""
        sources = self.sources
        if self.index is None:
            assert self.plan is not None
            yield Reference(self.plan, self.others)
            return
        # Index code is slow to import, and most runs have none.
        from neardup.jobs.dedup.against import open_index

        with open_index(self.index, sources, self.options, engine) as reference:
            yield reference

    def key(self, reference: Reference) -> dict[str, Any] | None:
        """Return the inputs of a stopped run, None if unidentifiable."""
        plan, against = reference.plan, reference.sources
        scheme = plan.reading.shingles.describe()
        key = key_of("dedup", plan.options, scheme, inputs=self.sources, against=against)
        if key is not None and reference.state is not None:
            key["index"] = [reference.state]
        return key

    def run(self, engine: Engine, reference: Reference) -> DeduplicationResult:
        """Run all stages before writing, against the opened reference."""
        result = deduplicate_sources(engine, self.sources, reference)
        if reference.state is not None:
            folder = reference.state["path"]
            named = {"name": Path(folder).name, "origin": folder}
            result.summary |= {"against_files": 1, "against": [named]}
        return result


def deduplicate_sources(
    engine: Engine, sources: Sequence[Source], reference: Reference
) -> DeduplicationResult:
    """Run all stages before writing.

    The first of two passes signs every document and looks it up in an index, the second reads
    possible near-duplicates again for exact comparison. Weights by document frequencies need an
    earlier pass. Kept documents are added to a new state of the index, and removed ones recorded.
    """
    plan, against = reference.plan, reference.sources
    keep_extracted(engine.workspace, sources, against)
    if plan.reading.needs_frequencies:
        with engine.stage("count"):
            counted = counted_collections(plan.options, sources, against)
            plan = plan.weighed(engine.count("count", shingle_collections(counted, plan.reading)))
    with engine.stage("read") as note:
        read = sign_documents(engine, sources, against, plan)
        contents = find_contents(read, plan.keep, with_index=reference.index is not None)
        note(documents=len(contents.firsts), distinct_texts=contents.count())
    decided = _decide(engine, read, contents, plan)
    result = _conclude(engine, read, reference, decided)
    write_rows_by(result, engine)
    return result


# Bytes that an exact join holds per element, plain and weighted.
_BYTES_OF_ELEMENT, _BYTES_OF_WEIGHTED = 30, 48


def check_fits(contents: DedupContents, plan: DedupPlan, workspace: Workspace, option: str) -> None:
    """Check that an exact join of contents fits in memory."""
    of_element = _BYTES_OF_WEIGHTED if plan.reading.weighted else _BYTES_OF_ELEMENT
    n_tokens = contents.n_tokens_of(np.flatnonzero(contents.is_content))
    needed = of_element * int(np.maximum(n_tokens - plan.reading.shingles.ngram + 1, 1).sum())
    if not workspace.fits(needed, 1.0):
        what = "audit" if option == "audit" else f"{option} exact"
        remedy = "leave it out" if option == "audit" else f"choose {option} minhash"
        message = (
            f"{what} compares all texts at once and takes about {needed / 1e6:,.0f} MB for that, "
            f"of {workspace.memory / 1e6:,.0f} MB that may be used; {remedy}, or raise memory"
        )
        raise InvalidParameterError(message, option, "memory")


CONFIDENCE = 0.95


def audit_contents(
    batches: SignedBatches,
    contents: DedupContents,
    removals: Removals,
    plan: DedupPlan,
    runner: Runner,
) -> dict[str, Any]:
    """Sample contents by the seed, and audit their removals.

    Contents that stay in any case are not sampled. All contents are read into memory.
    """
    documents = contents.in_keep_order()
    n_contents, n_fixed = len(documents), contents.count_fixed(documents)
    n_drawn = min(plan.options.audit or 0, n_contents - n_fixed)
    generator = np.random.default_rng(plan.minhash.seed)
    drawn = np.sort(generator.choice(n_contents - n_fixed, n_drawn, replace=False)) + n_fixed
    stays = ~np.isin(documents, removals.documents)
    keys = [keys_of(batch, batches.n_bands) for _, batch in batches]
    band_keys = np.concatenate([np.empty((0, batches.n_bands), np.uint64), *keys])[documents].T
    sets = contents.read_comparable(documents, plan.reading, runner)
    return audit_recall(drawn, sets, plan.measure, band_keys, stays, runner)


def audit_recall(
    drawn: Int64s,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    band_keys: Uint64s,
    stays: Bools,
    runner: Runner,
) -> dict[str, Any]:
    """Compare sampled documents exactly with all, and estimate the recall.

    Sets, which are not empty, ``band_keys`` of shape (n_bands, n), and ``stays``, a mask of kept
    documents, are in keep order; ``drawn`` are numbers in it. Candidates come from prefix tokens,
    with the memory of ``list_prefixes``.

    Returns the entries of a summary: ``recall`` is the mean share of a document's similar pairs
    that share a bucket, and ``interval`` bounds the collection's recall with the ``confidence``,
    both None if no document is similar to another. Documents are ``kept_although_similar`` if a
    similar one before them stays.
    """
    lists = list_prefixes(sets, measure)
    # Documents of key k begin at ``starts[k]``.
    owners = np.repeat(np.arange(len(sets), dtype=np.int32), np.diff(lists.starts))
    members, starts = owners[np.argsort(lists.keys, kind="stable")], offsets_of(lists.sizes)

    def audit(document: int) -> tuple[int, int, bool]:
        """Count similar and found documents; return whether it stays although similar."""
        keys = lists.keys[lists.starts[document] : lists.starts[document + 1]]
        with_key = [members[starts[key] : starts[key + 1]] for key in keys.tolist()]
        others = np.unique(np.concatenate([np.empty(0, np.int32), *with_key])).astype(np.int64)
        others = others[others != document]
        later, earlier = np.maximum(others, document), np.minimum(others, document)
        similar = others[overlaps_at_threshold(sets, later, earlier, measure) >= 0]
        are_found = (band_keys[:, similar] == band_keys[:, [document]]).any(axis=0)
        is_kept = bool(stays[document] and stays[similar[similar < document]].any())
        return len(similar), int(are_found.sum()), is_kept

    audits = runner.map(audit, drawn.tolist(), "audit", range(1, len(drawn) + 1))
    counts = np.array(list(audits), np.int64).reshape(-1, 3)
    n_pairs, n_found, n_kept = (int(total) for total in counts.sum(axis=0))
    with_similar = counts[counts[:, 0] > 0]
    recall, interval = None, None
    if len(with_similar):
        # Pairs of one document are found or missed together, so documents are the unit. A mean of
        # shares varies at most as much as one of as many 0 or 1 values.
        recall = float((with_similar[:, 1] / with_similar[:, 0]).mean())
        bounds = wilson_intervals(np.array([recall]), np.array([float(len(with_similar))]))
        interval = [float(bound[0]) for bound in bounds]
    return {
        "documents": len(drawn),
        "similar_documents": len(with_similar),
        "similar_pairs": n_pairs,
        "found_pairs": n_found,
        "recall": recall,
        "interval": interval,
        "confidence": CONFIDENCE,
        "kept_although_similar": n_kept,
    }


@dataclass(frozen=True)
class _Decided:
    """Removed contents, and the ``audit`` if it was requested."""

    plan: DedupPlan
    contents: DedupContents
    removals: Removals
    audit: dict[str, Any] | None = None


def _decide(engine: Engine, read: Read, contents: DedupContents, plan: DedupPlan) -> _Decided:
    if plan.options.method == "exact":
        check_fits(contents, plan, engine.workspace, "method")
        return _Decided(plan, contents, choose_exactly(contents, plan, engine.runner))
    if plan.options.audit:
        check_fits(contents, plan, engine.workspace, "audit")
    removals, audit = choose_by_buckets(engine, read, contents, plan), None
    if plan.options.audit:
        with engine.stage("audit"):
            audit = audit_contents(read.signed, contents, removals, plan, engine.runner)
    return _Decided(plan, contents, removals, audit)


def _conclude(
    engine: Engine, read: Read, reference: Reference, decided: _Decided
) -> DeduplicationResult:
    contents, index, plan = decided.contents, reference.index, decided.plan
    assignment = assign(contents, decided.removals)
    # Documents before the own ones: of the other collection, or keepers in the index.
    before, names = contents.other, None
    of_index: dict[str, Any] = {}
    if index is not None and contents.index_removals is not None:
        from neardup.jobs.dedup.against import DENIED, SIDES, add_to_index, keeper_sides

        ids = index.ids_gone_for(contents.index_removals.index_documents)
        before = before.after_index_documents(ids)
        sides = keeper_sides(index, contents, assignment)
        if reference.new is not None:
            with engine.stage("add") as note:
                assignment, of_index = add_to_index(
                    engine, read, reference.new, before, assignment, sides
                )
                note(documents=of_index["documents_added"])
        of_index["documents_denied"] = int((sides == DENIED).sum())
        names = pa.DictionaryArray.from_arrays(sides, SIDES)
    summary = _summarise(engine, decided, before, assignment, index) | of_index
    return DeduplicationResult(
        contents.own, before, assignment, summary, shares_ids=plan.options.add, sides=names
    )


def _summarise(
    engine: Engine,
    decided: _Decided,
    before: Catalogue,
    assignment: Assignment,
    index: OpenDocuments | None,
) -> dict[str, Any]:
    """Return the content of ``summary.json`` without the writing time.

    With an index, there are no hints, because its options are fixed.
    """
    plan, contents, removals = decided.plan, decided.contents, decided.removals
    method = plan.options.method
    own, other = contents.own, contents.other
    n_documents = int(own.is_document.sum())
    n_removed = int((~assignment.stays).sum())
    # Documents of the other collection are numbered first.
    n_for_other = int((assignment.keepers[~assignment.stays] < contents.n_reference).sum())
    n_against = int(other.is_document.sum()) + (0 if index is None else index.n_documents)
    summary: dict[str, Any] = {
        "documents_in": n_documents,
        "documents_kept": n_documents - n_removed,
        "documents_removed": n_removed,
        "exact_copies": int(assignment.exact.sum()),
        "empty_documents": own.count_empty(),
        "short_documents": own.count_short(plan.reading.shingles.ngram),
        **describe_skipped(own.skipped, other.skipped),
        **describe_filtered(own.sources),
        "passed_over": passed_over(own.sources, other.sources),
        "against_documents": n_against,
        "removed_for_against": n_for_other,
        "removed_within": n_removed - n_for_other,
        **describe_ids(own.columns, other.columns),
        "distinct_texts": contents.count(),
        "text_bytes": own.text_bytes,
        "tokens": int(np.maximum(own.n_tokens, 0).sum()),
        "candidates": removals.n_compared,
        "verified_pairs": removals.n_verified,
        "method": method,
        "predicted_recall": plan.predicted_recall if method == "minhash" else 1.0,
        "threshold": float(plan.measure.threshold),
        "measure": plan.measure.name,
        "keep": plan.options.keep,
        "clusters": plan.options.clusters,
        **plan.options.describe_preset(),
        "scheme": plan.reading.shingles.describe(),
        **engine.describe(),
    }
    if method == "minhash":
        summary["recall"] = float(plan.options.recall_asked_for)
        summary["bands"], summary["rows"] = plan.banding.bands, plan.banding.rows
        summary["scheme"] |= plan.minhash.describe()
    if plan.reading.weighted:
        summary["scheme"] |= plan.reading.weighted.describe()
    # Index documents have only ids, and belong to no file.
    summary["by_file"] = count_by_file(own, before, assignment)
    summary |= describe_inputs(own.sources, other.sources)
    summary |= describe_reading(plan.options, own)
    complete_summary(summary, engine.runner)
    summary["versions"] = versions()
    if decided.audit:
        summary["audit"] = decided.audit
    if plan.options.clusters == "components":
        summary["removed_beyond_survivors"] = removals.n_beyond
    summary["hints"] = []
    if index is None:
        n_short = summary["short_documents"]
        summary["hints"] = hints_of_short(n_documents, n_short, plan.reading.shingles)
    return summary


def deduplicate(
    data: Data,
    against: DataOrIndex | None = None,
    *,
    threshold: Number | None = None,
    measure: DocumentMeasure | None = None,
    method: Method = "minhash",
    preset: DocumentPreset | None = None,
    keep: str = "first",
    clusters: Clusters = "survivors",
    recall: Number | None = None,
    num_perm: int | None = None,
    bands: tuple[int, int] | str | None = None,
    audit: int | None = None,
    add: bool = False,
    text: TextOptions | None = None,
    read: ReadOptions | None = None,
    run: RunOptions | None = None,
) -> DeduplicationResult:
    """Find near-duplicate documents and decide which of them stay.

    Documents are taken in the order of ``keep``. Each one stays unless it is verified similar, at
    or above ``threshold``, to one that already stays; then it is removed in favour of the most
    similar such document. Candidates for the comparison come from MinHash bands, every comparison
    is exact.

    Parameters
    ----------
    data
        A path, glob or URL as a string; a list of ``pathlib.Path``; a list of strings (texts) or of
        dictionaries (rows); or any table with ``__arrow_c_stream__``: pandas, Polars, DuckDB,
        Arrow, Hugging Face datasets. A set raises an error, because it has no order.
    against
        Other documents, or an index of documents, which all stay: documents similar to one of them
        are removed. Their ids get the prefix ``against/`` if ``data`` has the same ids. An index is
        looked up, in memory that does not grow with it, and defines tokens, measure and bands;
        method ``exact``, clusters ``components`` and an audit read all its texts.
    threshold
        Least similarity, in (0, 1], an exact decimal; equal counts as similar. None: 0.8, or the
        threshold of the index.
    measure
        ``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (the share of the removed
        document that the kept one has), ``max-containment`` or ``weighted-jaccard``.
    method
        ``minhash`` finds candidates by bands, ``exact`` misses none.
    preset
        ``ocr``, ``titles`` or ``code``: defaults for such texts.
    keep
        Keep order: ``first``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN`` or
        ``priority:COLUMN=A,B``; several, separated by commas, break ties.
    clusters
        ``survivors``, or ``components``: one document of each connected component stays.
    recall
        Least probability that a pair at the threshold is found, in (0, 1]. None: 0.99.
    num_perm
        MinHash functions, at most. None: 128.
    bands
        Numbers of bands and of rows per band, instead of ``recall``.
    audit
        Compare this many distinct texts with all others exactly, and report the recall.
    add
        Add the kept documents to the index, all or none, at the very end. A missing index is
        created with these options.
    text, read, run
        Tokens and shingles, input, and threads, memory or Spark.

    Returns
    -------
    The result: ``kept``, ``removed``, ``clusters`` (Arrow tables), ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or unlike the index.
    InvalidInputError
        For a bad row or a repeated id, or an added id that the index already has.
    ReadError, IndexFormatError
        For an unreadable file, or a damaged index.
    IndexLockedError, WriteError
        If another writer has locked the index, or it cannot be written.

    Notes
    -----
    Time linear in the text plus the comparisons. Memory 8 bytes per shingle of the documents that
    share a bucket, and about ``12 * bands + 20 * workers + 120`` bytes per document; method
    ``exact`` and an audit take 30 bytes per shingle of all documents, 48 per weighted one. The
    files are read twice, and once more for writing.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat today", "a dog", "The cat sat on the mat today!"]
    >>> result = neardup.deduplicate(texts)
    >>> result.removed.select(["id", "kept_id", "similarity"]).to_pylist()
    [{'id': '2', 'kept_id': '0', 'similarity': 1.0}]
    """
    options = merge(DedupOptions, locals())
    index = None
    if against is not None:
        from neardup.documents.other import index_among

        index = index_among(against, options.tokenizer, may_be_new=add)
    job = DedupJob(options, resolve_inputs, data, None if index else against, index=index)
    with (
        open_engine(run, job.sources, job.whole) as engine,
        job.open_reference(engine) as reference,
    ):
        result = job.run(engine, reference)
    return with_warning(result)
