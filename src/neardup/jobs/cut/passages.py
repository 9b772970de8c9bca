"""Passages that go: similar ones by alignment, equal ones by hashes of their tokens."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from neardup.jobs.cut.collections import Collections
from neardup.jobs.cut.locate import locate_passages
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans
from neardup.passages.cut_texts import RemovedPassages
from neardup.passages.cutting import PassageCutter, join_lists
from neardup.passages.repeats import find_repeats
from neardup.passages.temporary import index_tokens
from neardup.runtime.runner import Runner
from neardup.tables import Int64s, TokenLists


def cut_passages(collections: Collections, plan: CutJobPlan, runner: Runner) -> CutSpans:
    """Find the passages that go, and where they stand.

    Raises
    ------
    ReadError, WriteError
        If a file cannot be read again, or the temporary index not be written.
    """
    with runner.stage("cut") as note:
        find = find_equal if plan.options.exact else find_similar
        found = find(collections, plan, runner)
        note(passages=len(found))
    with runner.stage("locate"):
        return _locate(found, collections, plan, runner)


def find_similar(collections: Collections, plan: CutJobPlan, runner: Runner) -> RemovedPassages:
    """Find passages that are similar to one that stays, as ``passages.cutting`` says.

    Documents of both collections are numbered together, the other one first.
    """
    assert plan.passages is not None
    assert plan.scheme is not None
    order, n_other = collections.order, len(collections.other)
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        make_index = partial(
            index_tokens, scheme=plan.scheme, tokenizer=plan.options.tokenizer, runner=runner
        )
        cutter = PassageCutter(
            _in_order(collections.own_tokens, order),
            collections.other_tokens if n_other else None,
            plan.passages,
            make_index,
            Path(folder),
            runner,
        )
        found = cutter.cut()
    # The cutter numbers other texts behind those that it cuts.
    numbers = np.concatenate([n_other + order, np.arange(n_other)])
    return RemovedPassages(
        numbers[found.documents],
        found.starts,
        found.stops,
        numbers[found.kept_documents],
        found.kept_starts,
        found.kept_stops,
        found.similarities,
    )


def find_equal(collections: Collections, plan: CutJobPlan, _: Runner) -> RemovedPassages:
    """Find passages that are equal to one that stays; documents numbered as in ``find_similar``."""
    n_other = len(collections.other)
    order = np.concatenate([np.arange(n_other), n_other + collections.order])
    found = find_repeats(
        collections.tokens,
        order,
        plan.min_tokens,
        plan.options.min_documents or 1,
        n_against=n_other,
    )
    return RemovedPassages(
        found.documents,
        found.starts,
        found.stops,
        found.kept_documents,
        found.kept_starts,
        found.kept_stops,
        np.ones(len(found)),
    )


def _in_order(tokens: TokenLists, order: Int64s) -> TokenLists:
    """Return the tokens of documents in keep order; those that are in it are not copied."""
    if (np.diff(order) == 1).all():
        return tokens
    offsets = tokens.offsets
    return join_lists([tokens.values[offsets[k] : offsets[k + 1]] for k in order.tolist()])


def _locate(
    found: RemovedPassages, collections: Collections, plan: CutJobPlan, runner: Runner
) -> CutSpans:
    """Turn tokens into characters; what goes takes the space around it along."""
    n = len(found)
    located = locate_passages(
        collections.catalogues,
        plan.reading,
        np.concatenate([found.documents, found.kept_documents]),
        np.concatenate([found.starts, found.kept_starts]),
        np.concatenate([found.stops, found.kept_stops]),
        n,
        runner,
    )
    return CutSpans(
        found.documents - len(collections.other),
        located.wide_starts,
        located.wide_stops,
        found.kept_documents,
        located.starts[n:],
        located.stops[n:],
        found.similarities,
    ).in_order()
