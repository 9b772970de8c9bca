"""Near-duplicate documents: which stay, which go, and for which other document each one goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from neardup.clustering.components import join_components
from neardup.clustering.survivors import choose_survivors
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.jobs.dedup.assignment import assign, order_contents, places_of
from neardup.jobs.dedup.audit import Audit, audit_recall
from neardup.jobs.dedup.method import choose_method
from neardup.jobs.dedup.options import Clusters, Method, Options, Plan, make_plan
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.dedup.summary import summarise
from neardup.matching.buckets import bucket_keys, list_keys
from neardup.matching.measures import MeasureName
from neardup.matching.prefixes import list_prefixes
from neardup.reading.contents import ContentTable
from neardup.reading.first_pass import Catalogue, count_shingles, read_catalogue
from neardup.reading.second_pass import read_sets, read_weighted_sets
from neardup.runtime.progress import Progress, StageClock, no_progress
from neardup.tables import Bools, Buckets, Int64s, ShingleSets, Uint64s, WeightedSets
from neardup.text.shingles import Occurrences
from neardup.text.weighting import InverseFrequency, TermFrequency

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


@dataclass(frozen=True)
class _Collection:
    """All documents, and their distinct contents in keep order.

    ``firsts`` is each content's first document, those of ``other`` numbered before those of
    ``own``; ``order`` lists the contents, the first ``n_fixed`` of which stay in any case.
    """

    own: Catalogue
    other: Catalogue
    firsts: Int64s
    order: Int64s
    n_fixed: int

    def read_sets(self, contents: Int64s, plan: Plan, progress: Progress) -> ShingleSets:
        """Read the shingle sets of some contents."""
        wanted = places_of(self.firsts[contents], len(self.other), len(self.own))
        return read_sets(
            (self.other, self.own), wanted, plan.sketch, workers=plan.workers, progress=progress
        )

    def read_comparable(
        self, contents: Int64s, plan: Plan, progress: Progress
    ) -> ShingleSets | WeightedSets:
        """Read what some contents are compared by."""
        if plan.sketch.weighted is None:
            return self.read_sets(contents, plan, progress)
        return read_weighted_sets(
            (self.other, self.own),
            places_of(self.firsts[contents], len(self.other), len(self.own)),
            plan.sketch,
            plan.sketch.weighted,
            workers=plan.workers,
            progress=progress,
        )


def deduplicate_sources(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: Plan,
    progress: Progress = no_progress,
) -> DeduplicationResult:
    """Run all stages but the writing.

    Two passes over the files: the first sketches every document, the second reads those again that
    may have a near-duplicate, for exact comparison. Weights by document frequencies need a pass of
    their own before, which counts.
    """
    clock = StageClock()
    key_parts: list[Uint64s] = []
    weighted = plan.sketch.weighted
    if weighted and weighted.needs_frequencies:
        with clock.stage("count"):
            frequencies = count_shingles(
                (against, sources), plan.sketch, workers=plan.workers, progress=progress
            )
        weighted = replace(weighted, frequencies=frequencies)
        plan = replace(plan, sketch=replace(plan.sketch, weighted=weighted))
    with clock.stage("read"):
        collection = _read_collection(sources, against, plan, key_parts, progress)
    own, other, order = collection.own, collection.other, collection.order
    method, choice = plan.options.method, None
    if method == "auto":
        with clock.stage("choose method"):
            choice = choose_method((other, own), collection.firsts, plan, progress)
            method = choice.method
    # Contents that may have a near-duplicate; only those are looked at, in keep order.
    near: Int64s = np.arange(len(order), dtype=np.int64)
    buckets = lists = audit = None
    if method == "minhash":
        with clock.stage("bucket"):
            buckets = bucket_keys(key_parts, order, plan.banding.bands, workers=plan.workers)
            if plan.options.clusters == "survivors":
                _leave_out_fixed(buckets, collection.n_fixed)
            near = np.flatnonzero((buckets.numbers >= 0).any(axis=0))
            lists = list_keys(Buckets(buckets.numbers.take(near, axis=1), buckets.sizes))
            if plan.options.audit is None:
                buckets = None
    key_parts.clear()
    with clock.stage("compare"):
        sets = collection.read_comparable(order[near], plan, progress)
        if lists is None:
            assert isinstance(sets, ShingleSets)
            lists = list_prefixes(sets, plan.measure)
    with clock.stage("choose"):
        n_near_fixed = int(np.searchsorted(near, collection.n_fixed))

        def report(done: int) -> None:
            progress("choose", done, len(sets))

        # Survivors in any case, to tell what components remove beyond them.
        rules = [choose_survivors]
        if plan.options.clusters == "components":
            rules.append(join_components)
        assignments = []
        for rule in rules:
            removals = rule(lists, sets, plan.measure, n_fixed=n_near_fixed, progress=report)
            assignments.append(assign(own, other, collection.firsts, order[near], removals))
        assignment = assignments[-1]
    if buckets:
        with clock.stage("audit"):
            stays = np.ones(len(order), np.bool_)
            stays[near[removals.keepers >= 0]] = False
            audit = _audit(collection, buckets, stays, plan, progress)
    summary = summarise(plan, own, other, assignment, removals, len(order), method, clock)
    if choice:
        summary["method_choice"] = choice.describe()
    if audit:
        summary["audit"] = audit.describe()
    if len(assignments) > 1:
        n_survivors, n_left = (int(a.stays.sum()) for a in assignments)
        summary["removed_beyond_survivors"] = n_survivors - n_left
    return DeduplicationResult(own, other, assignment, summary, clock)


def _read_collection(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: Plan,
    key_parts: list[Uint64s],
    progress: Progress,
) -> _Collection:
    contents = ContentTable()
    other = read_catalogue(
        against,
        plan.sketch.without_order(),
        contents,
        key_parts,
        workers=plan.workers,
        progress=progress,
    )
    n_fixed = contents.size
    own = read_catalogue(
        sources, plan.sketch, contents, key_parts, workers=plan.workers, progress=progress
    )
    firsts, order = order_contents(own, other, contents.size, n_fixed, plan.keep)
    return _Collection(own, other, firsts, order, n_fixed)


def _audit(
    collection: _Collection, buckets: Buckets, stays: Bools, plan: Plan, progress: Progress
) -> Audit:
    """Draw contents by the seed, those that stay in any case left out, and look what was missed."""
    n_contents, n_fixed = len(collection.order), collection.n_fixed
    n_drawn = min(plan.options.audit or 0, n_contents - n_fixed)
    generator = np.random.default_rng(plan.minhash.seed)
    drawn = np.sort(generator.choice(n_contents - n_fixed, n_drawn, replace=False)) + n_fixed
    sets = collection.read_sets(collection.order, plan, progress)
    return audit_recall(drawn, sets, plan.measure, buckets, stays, workers=plan.workers)


def _leave_out_fixed(buckets: Buckets, n_fixed: int) -> None:
    """Take contents that stay in any case out of the buckets that hold nothing else.

    Survivors are not compared among themselves there; components may hang together by them.
    """
    if n_fixed == 0 or not len(buckets.sizes):
        return
    is_needed = np.zeros(len(buckets.sizes), np.bool_)
    is_needed[buckets.numbers[:, n_fixed:][buckets.numbers[:, n_fixed:] >= 0]] = True
    fixed = buckets.numbers[:, :n_fixed]
    fixed[(fixed >= 0) & ~is_needed[fixed]] = -1


def deduplicate(
    data: Any,
    *,
    against: Any = None,
    measure: MeasureName = "jaccard",
    threshold: str | float | Decimal | Fraction = 0.8,
    recall: str | float | Decimal | Fraction | None = None,
    tokenizer: str | Path | TokenFunction = "words",
    ngram: int | None = None,
    occurrences: Occurrences = "set",
    casefold: bool | None = None,
    unicode_form: Literal["NFC", "NFKC"] | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    seed: int | None = None,
    keep: str = "first",
    clusters: Clusters = "survivors",
    method: Method = "minhash",
    audit: int | None = None,
    tf: TermFrequency | None = None,
    idf: InverseFrequency | None = None,
    text_column: str = "text",
    id_column: str | None = None,
    lines: bool = False,
    on_error: Literal["raise", "skip"] = "raise",
    workers: int | None = None,
    progress: Progress = no_progress,
) -> DeduplicationResult:
    """Find near-duplicate documents and decide which of them stay.

    Documents are taken in the order of ``keep``. Each one stays unless it is verified similar, at
    or above ``threshold``, to one that already stays; then it is removed in favour of the most
    similar such document. Candidates for the comparison come from MinHash bands, every comparison
    is exact.

    Parameters
    ----------
    data
        A path, glob or URL as a string; a list of ``pathlib.Path``; a list of strings (texts) or
        of dictionaries; or anything with ``__arrow_c_stream__``: pandas, Polars, DuckDB, Arrow,
        Hugging Face datasets.
    against
        More documents, as for ``data``. They all stay; what is similar to one of them goes. Their
        ids get ``against/`` in front where ``data`` has the same ids.
    measure
        ``jaccard``, ``cosine``, ``dice``, ``containment`` (how much of the document that would go
        is in the one that stays), ``max-containment`` or ``weighted-jaccard`` (with weights by
        ``tf`` and ``idf``; method ``minhash``, no audit).
    threshold
        Least similarity, in (0, 1], taken as the exact decimal; equal counts as similar.
    recall
        Least probability, in (0, 1], that a pair at the threshold is found; 1 only with a
        threshold of 1. None is 0.99.
    tokenizer
        ``words``, ``whitespace``, ``characters``, ``bytes``, the path of a ``tokenizer.json`` or a
        function from a text to its tokens.
    ngram
        Tokens in a shingle; 5, for ``weighted-jaccard`` 1.
    occurrences
        ``set``, or ``numbered`` for measures of multisets.
    casefold, unicode_form, strip_accents, fold_digits
        Differences that do not count; see ``Normalisation``. ``casefold`` is on for words.
    num_perm
        Hash functions that may be used for bands; None is 128.
    bands, rows
        Use these instead of choosing them for ``recall``.
    seed
        Selects the hash functions; None is 42. Method ``exact`` has no use for it, nor for
        ``recall``, ``num_perm``, ``bands``, ``rows`` and ``audit``, and takes none of them.
    keep
        ``first``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN`` or
        ``priority:COLUMN=A,B,C``; ties by input order.
    clusters
        ``survivors``, or ``components``: only the first document of every connected component of
        similar documents stays.
    method
        ``minhash``, ``exact``, which misses no similar document, or ``auto``: exact where that is
        not much more work than sketches, by what is counted on a sample of the texts.
    audit
        Compare so many distinct texts, drawn by the seed, with all others exactly, and report
        what share of the similar pairs the sketches have found.
    tf, idf
        What a shingle weighs, for ``weighted-jaccard``: a term frequency (``raw``, ``binary``,
        ``log``, ``squared`` or ``saturating``) times an inverse document frequency (``smooth``,
        ``unary``, ``standard`` or ``probabilistic``) over all documents, those of ``against``
        included; see ``text.weighting.Weighting``. The first of each is the default.
    text_column, id_column
        Names of columns; without ``id_column`` a document's id is ``<file name>:<row number>``.
    lines
        Text files hold one document a line.
    on_error
        ``raise`` on a bad row, or ``skip`` it: it is kept, listed in the summary and left out.
    workers
        Threads; None is one a core. The result does not depend on it.
    progress
        Called with a stage's name, documents done, and their number if known.

    Returns
    -------
    The result: ``kept``, ``removed``, ``clusters`` (Arrow tables), ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range.
    InvalidInputError
        For a bad row or a repeated id.
    ReadError
        For a file that cannot be read.

    Notes
    -----
    Time linear in the text plus the comparisons. Memory 8 bytes a shingle of the documents that
    share a bucket, and about ``12 * bands + 20 * workers + 120`` bytes a document; method ``exact``
    and an audit take 30 bytes a shingle of all documents. The files are read twice, and once more
    for writing.

    Examples
    --------
    >>> import neardup
    >>> texts = ["the cat sat on the mat today", "a dog", "The cat sat on the mat today!"]
    >>> result = neardup.deduplicate(texts)
    >>> result.removed.select(["id", "kept_id", "similarity"]).to_pylist()
    [{'id': '2', 'kept_id': '0', 'similarity': 1.0}]
    """
    options = Options(
        measure=measure,
        threshold=threshold,
        recall=recall,
        tokenizer=tokenizer,
        ngram=ngram,
        occurrences=occurrences,
        casefold=casefold,
        unicode_form=unicode_form,
        strip_accents=strip_accents,
        fold_digits=fold_digits,
        num_perm=num_perm,
        bands=bands,
        rows=rows,
        seed=seed,
        keep=keep,
        clusters=clusters,
        method=method,
        audit=audit,
        tf=tf,
        idf=idf,
        text_column=text_column,
        id_column=id_column,
        on_error=on_error,
    )
    plan = make_plan(options, workers)
    sources = resolve_inputs(data, lines=lines)
    others = resolve_inputs(against, lines=lines) if against is not None else []
    return deduplicate_sources(sources, others, plan, progress)
