"""Near-duplicate documents: which stay, which go, and for which other document each one goes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from neardup.clustering.components import join_components
from neardup.clustering.survivors import choose_survivors
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import Source
from neardup.matching.lsh import bucket_keys, list_keys
from neardup.matching.measures import MeasureName
from neardup.matching.prefixes import list_prefixes
from neardup.pipelines.assignment import assign, order_contents, places_of
from neardup.pipelines.audit import audit_recall
from neardup.pipelines.candidates import read_sets
from neardup.pipelines.catalogue import read_catalogue
from neardup.pipelines.contents import ContentTable
from neardup.pipelines.method import choose_method
from neardup.pipelines.options import Clusters, Method, Options, Plan, make_plan
from neardup.pipelines.result import DeduplicationResult
from neardup.pipelines.summary import summarise
from neardup.progress import Progress, StageClock, no_progress
from neardup.tables import Buckets, Int64s, Uint64s
from neardup.text.shingles import Occurrences

if TYPE_CHECKING:
    from neardup.text.tokenizers import TokenFunction


def deduplicate_sources(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: Plan,
    progress: Progress = no_progress,
) -> DeduplicationResult:
    """Run all stages but the writing.

    Two passes over the files: the first sketches every document, the second reads those again that
    may have a near-duplicate, for exact comparison.
    """
    clock = StageClock()
    contents = ContentTable()
    key_parts: list[Uint64s] = []
    with clock.stage("read"):
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
    choice = None
    if plan.options.method == "auto":
        with clock.stage("choose method"):
            choice = choose_method((other, own), firsts, plan, progress)
    method = choice.method if choice else plan.options.method
    buckets = None
    shared: Int64s = np.arange(len(order), dtype=np.int64)
    if method == "minhash":
        with clock.stage("bucket"):
            buckets = bucket_keys(key_parts, order, plan.banding.bands, workers=plan.workers)
            _leave_out_fixed(buckets, n_fixed)
            # From here on only contents that share a bucket are looked at, in keep order.
            shared = np.flatnonzero((buckets.numbers >= 0).any(axis=0))
    key_parts.clear()
    candidates = order[shared]
    is_survivors = plan.options.clusters == "survivors"
    with clock.stage("compare"):
        wanted = places_of(firsts[candidates], len(other), len(own))
        sets = read_sets((other, own), wanted, plan.sketch, workers=plan.workers, progress=progress)
        if buckets:
            near = Buckets(buckets.numbers.take(shared, axis=1), buckets.sizes)
            lists = list_keys(near)
        else:
            lists = list_prefixes(sets, plan.measure, both_ways=not is_survivors)
    if plan.options.audit is None:
        buckets = None
    with clock.stage("choose"):
        n_shared_fixed = int(np.searchsorted(shared, n_fixed))

        def report(done: int) -> None:
            progress("choose", done, len(sets))

        removals = choose_survivors(
            lists, sets, plan.measure, n_fixed=n_shared_fixed, progress=report
        )
        assignment = assign(own, other, firsts, candidates, removals)
        n_survivors = int(assignment.stays.sum())
        if not is_survivors:
            removals = join_components(
                lists, sets, plan.measure, n_fixed=n_shared_fixed, progress=report
            )
            assignment = assign(own, other, firsts, candidates, removals)
    audit = None
    if buckets:
        stays = np.ones(len(order), np.bool_)
        stays[shared[removals.keepers >= 0]] = False
        with clock.stage("audit"):
            wanted = places_of(firsts[order], len(other), len(own))
            sets = read_sets(
                (other, own), wanted, plan.sketch, workers=plan.workers, progress=progress
            )
            drawn = _draw(n_fixed, len(order), plan)
            audit = audit_recall(drawn, sets, plan.measure, buckets, stays, workers=plan.workers)
    summary = summarise(plan, own, other, assignment, removals, contents.size, method, clock)
    if choice:
        summary["method_choice"] = choice.describe()
    if audit:
        summary["audit"] = audit.describe()
    if not is_survivors:
        summary["removed_beyond_survivors"] = n_survivors - int(assignment.stays.sum())
    return DeduplicationResult(own, other, assignment, summary, clock)


def _draw(n_fixed: int, n_contents: int, plan: Plan) -> Int64s:
    """Draw the contents that are audited, by the seed."""
    n_drawn = min(plan.options.audit or 0, n_contents - n_fixed)
    generator = np.random.default_rng(plan.options.seed)
    drawn: Int64s = generator.choice(n_contents - n_fixed, n_drawn, replace=False) + n_fixed
    return np.sort(drawn)


def _leave_out_fixed(buckets: Buckets, n_fixed: int) -> None:
    """Take contents that stay in any case out of the buckets that hold nothing else."""
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
    recall: str | float | Decimal | Fraction = 0.99,
    tokenizer: str | Path | TokenFunction = "words",
    ngram: int = 5,
    occurrences: Occurrences = "set",
    casefold: bool | None = None,
    unicode_form: Literal["NFC", "NFKC"] | None = None,
    strip_accents: bool = False,
    fold_digits: bool = False,
    num_perm: int = 128,
    bands: int | None = None,
    rows: int | None = None,
    seed: int = 42,
    keep: str = "first",
    clusters: Clusters = "survivors",
    method: Method = "minhash",
    audit: int | None = None,
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
        is in the one that stays) or ``max-containment``.
    threshold
        Least similarity, in (0, 1], taken as the exact decimal; equal counts as similar.
    recall
        Least probability, in (0, 1], that a pair at the threshold is found; 1 only with a
        threshold of 1.
    tokenizer
        ``words``, ``whitespace``, ``characters``, ``bytes``, the path of a ``tokenizer.json`` or a
        function from a text to its tokens.
    ngram
        Tokens in a shingle.
    occurrences
        ``set``, or ``numbered`` for measures of multisets.
    casefold, unicode_form, strip_accents, fold_digits
        Differences that do not count; see ``Normalisation``. ``casefold`` is on for words.
    num_perm
        Hash functions that may be used for bands.
    bands, rows
        Use these instead of choosing them for ``recall``.
    seed
        Selects the hash functions.
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
        text_column=text_column,
        id_column=id_column,
        on_error=on_error,
    )
    plan = make_plan(options, workers)
    sources = resolve_inputs(data, lines=lines)
    others = resolve_inputs(against, lines=lines) if against is not None else []
    return deduplicate_sources(sources, others, plan, progress)
