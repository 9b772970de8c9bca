"""What documents are compared against: a collection that is read, or an index."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from neardup.documents.scheme import DocumentScheme, check_alike
from neardup.errors import InvalidParameterError
from neardup.files.rows import Source
from neardup.indexes.manifest import encode
from neardup.matching.keep import parse_keep
from neardup.options.documents import DedupOptions
from neardup.reading.signed_batches import count_shingles
from neardup.stages.options import check_weights_of_index, columns_of
from neardup.stages.plan import DedupPlan, check_method

if TYPE_CHECKING:
    from neardup.documents.additions import Adding
    from neardup.documents.index import DocumentHandle, OpenDocuments
    from neardup.runs.runner import Runner
    from neardup.text.weighting import DocumentFrequencies


# The plan of a deduplication against an index, which decides what counts as similar.


def plan_with_index(options: DedupOptions, scheme: DocumentScheme) -> DedupPlan:
    """Check what goes with what, and with an index; what is not given is as the index has it."""
    options.check_no_other("with an index", "name files with against", "against")
    check_method(options)
    check_weights_of_index(options, scheme.measure)
    check_alike(options, scheme)
    measure = scheme.measure_at(options.threshold)
    if options.add:
        _check_addition(options)
    keep = parse_keep(options.keep)
    reading = scheme.reading_plan(
        replace(columns_of(options), order=keep.column), skip_bad=options.skip_bad
    )
    reading = replace(reading, with_lengths=keep.by_length, by=options.by)
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

    ``sources`` are read as a collection; documents of an ``index`` are looked up. ``new`` is the
    next state of the index, where what stays is added. ``state`` says of an index which one it is,
    and changes when it does. Shingles are weighed by the documents of ``counted``; None: of those
    that are compared, or as the index has it.
    """

    plan: DedupPlan
    sources: Sequence[Source]
    index: OpenDocuments | None = None
    new: Adding | None = None
    state: Mapping[str, str] | None = None
    counted: Sequence[Source] | None = None


@contextmanager
def open_index(
    handle: DocumentHandle, sources: Sequence[Source], options: DedupOptions, runner: Runner
) -> Iterator[Other]:
    """Open an index to compare documents of some sources against.

    Where what stays is added, the index is locked for other writers as long as the block lasts, and
    has the documents when it ends well; nothing, if an error ends it.
    """
    from neardup.documents.additions import adding

    options.check_reads_text()
    if not options.add:
        index = handle.view(runner)
        plan = plan_with_index(options, index.scheme)
        if needs_all_texts(options):
            from neardup.documents.other import DocumentIndexSource

            state = _state_of(index, handle)
            yield Other(plan, [DocumentIndexSource(index, handle.folder)], state=state)
        else:
            frequencies = _count(index, plan, sources, runner)
            yield _looked_up(index, handle, options, frequencies)
        return
    with handle.changing(runner) as files:
        index = handle.read(files)
        frequencies = _count(index, plan_with_index(options, index.scheme), sources, runner)
        # No documents decide nothing.
        decided = frequencies if frequencies and frequencies.n_documents else None
        with adding(handle, files, runner, frequencies=decided) as new:
            yield replace(_looked_up(new.index, handle, options, frequencies), new=new)


def _count(
    index: OpenDocuments, plan: DedupPlan, sources: Sequence[Source], runner: Runner
) -> DocumentFrequencies | None:
    """Count shingles for an index that weighs them by what is added first, before there is any."""
    if not index.scheme.needs_frequencies:
        return None
    with runner.stage("count"):
        return count_shingles([(sources, columns_of(plan.options))], plan.reading, runner)


def _looked_up(
    index: OpenDocuments,
    handle: DocumentHandle,
    options: DedupOptions,
    frequencies: DocumentFrequencies | None,
) -> Other:

    index = replace(index, scheme=index.scheme.with_frequencies(frequencies))
    plan = plan_with_index(options, index.scheme)
    return Other(plan, [], index, state=_state_of(index, handle))


def _state_of(index: OpenDocuments, handle: DocumentHandle) -> dict[str, str]:
    digest = hashlib.sha256(encode(index.manifest)).hexdigest()
    return {"path": os.path.realpath(handle.folder), "manifest": digest}
