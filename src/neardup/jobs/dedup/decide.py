"""The stage choose: which contents give way to which, carried over to all documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.clustering.components import join_components
from neardup.clustering.survivors import choose_survivors
from neardup.jobs.dedup.candidates import Candidates
from neardup.jobs.dedup.contents import Contents
from neardup.jobs.dedup.plan import DedupPlan
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Floats, Int64s, KeyLists, Removals, ShingleSets, WeightedSets


@dataclass(frozen=True)
class Assignment:
    """What each document gives way to.

    ``keepers`` is -1 for a document that stays, else the number of the one that stays for it;
    documents of the collection it is compared ``against`` are numbered first. ``similarities`` are
    NaN for documents that stay. ``exact`` marks exact copies of their keeper.
    """

    keepers: Int64s
    similarities: Floats
    exact: Bools

    @property
    def stays(self) -> Bools:
        """Whether each document stays."""
        return self.keepers < 0


@dataclass(frozen=True)
class Decision:
    """What was decided of the candidates, and of all documents by it.

    ``beyond_survivors`` documents went only because components were asked for; None where they
    were not.
    """

    removals: Removals
    assignment: Assignment
    beyond_survivors: int | None = None


def decide(
    contents: Contents,
    candidates: Candidates,
    keys: KeyLists,
    sets: ShingleSets | WeightedSets,
    plan: DedupPlan,
    runner: Runner,
) -> Decision:
    """Go through the candidates in keep order and decide which of them stay."""

    def report(done: int) -> None:
        runner.report("choose", done, len(sets))

    chosen = contents.order[candidates.places]
    n_fixed = candidates.n_fixed
    removals = choose_survivors(keys, sets, plan.measure, n_fixed=n_fixed, progress=report)
    survivors = assign(contents, chosen, removals)
    if plan.options.clusters == "survivors":
        return Decision(removals, survivors)
    removals = join_components(keys, sets, plan.measure, n_fixed=n_fixed, progress=report)
    assignment = assign(contents, chosen, removals)
    beyond = int(survivors.stays.sum()) - int(assignment.stays.sum())
    return Decision(removals, assignment, beyond)


def assign(contents: Contents, candidates: Int64s, removals: Removals) -> Assignment:
    """Carry the decision about some contents over to documents.

    An exact copy follows its content: where that stays, the content's first document stays and
    its copies go for it; where it goes, all its documents go for the same keeper.
    """
    own, other, firsts = contents.own, contents.other, contents.firsts
    content_keepers: Int64s = np.full(len(firsts), -1, np.int64)
    content_similarities: Floats = np.full(len(firsts), np.nan)
    gone = np.flatnonzero(removals.keepers >= 0)
    content_keepers[candidates[gone]] = candidates[removals.keepers[gone]]
    content_similarities[candidates[gone]] = removals.similarities[gone]

    documents = np.arange(len(other), len(other) + len(own), dtype=np.int64)
    keepers: Int64s = np.full(len(own), -1, np.int64)
    similarities: Floats = np.full(len(own), np.nan)
    exact = np.zeros(len(own), np.bool_)
    filled = np.flatnonzero(own.contents >= 0)
    numbers = own.contents[filled]
    stays = content_keepers[numbers] < 0
    first_documents = firsts[np.where(stays, numbers, content_keepers[numbers])]
    removed = first_documents != documents[filled]
    rows = filled[removed]
    keepers[rows] = first_documents[removed]
    exact[rows] = stays[removed]
    similarities[rows] = np.where(stays[removed], 1.0, content_similarities[numbers[removed]])
    return Assignment(keepers, similarities, exact)
