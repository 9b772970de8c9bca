"""The stage decide: which contents give way to which, by buckets or all at once.

What was decided of contents is carried over to all documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.matching.buckets import list_full_keys
from neardup.matching.prefixes import list_prefixes
from neardup.matching.sieve import sieve_components
from neardup.matching.survivors import (
    SetReader,
    choose_in_chunks,
    choose_survivors,
    join_components,
    join_in_chunks,
)
from neardup.reading.signed_batches import SignedBatches
from neardup.runs.arrays import AnyArray, kept_arrays
from neardup.runs.runner import Runner
from neardup.stages.components import (
    Candidates,
    Partitions,
    exchange_keys,
    exchange_texts,
    find_components,
    pack_components,
    read_candidates,
    read_sets,
    room_of_partition,
)
from neardup.stages.contents import Contents
from neardup.stages.plan import DedupPlan
from neardup.tables import (
    Bools,
    EarlierKeepers,
    Floats,
    Int64s,
    KeyLists,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
)

if TYPE_CHECKING:
    from neardup.runs.exchange import Shuffle
    from neardup.runs.work import Workspace


@dataclass(frozen=True)
class Decision:
    """Contents that go, by their first documents, and for which others of those decided.

    ``n_compared`` pairs were compared exactly, ``n_verified`` of them reached the threshold.
    ``n_beyond`` contents go only because components were asked for.
    """

    documents: Int64s
    keepers: Int64s
    similarities: Floats
    n_compared: int = 0
    n_verified: int = 0
    n_beyond: int = 0

    def as_arrays(self) -> dict[str, AnyArray]:
        """Return it as arrays, counts among them, to be kept."""
        counts = np.array([self.n_compared, self.n_verified, self.n_beyond])
        return {
            "documents": self.documents,
            "keepers": self.keepers,
            "similarities": self.similarities,
            "counts": counts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Decision:
        """Make one of what ``as_arrays`` has returned."""
        counts = arrays["counts"].tolist()
        return cls(arrays["documents"], arrays["keepers"], arrays["similarities"], *counts)

    @classmethod
    def of_all(cls, parts: Iterable[Decision]) -> Decision:
        """Put the decisions of all partitions together."""
        listed = [cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)), *parts]
        return cls(
            np.concatenate([part.documents for part in listed]),
            np.concatenate([part.keepers for part in listed]),
            np.concatenate([part.similarities for part in listed]),
            sum(part.n_compared for part in listed),
            sum(part.n_verified for part in listed),
            sum(part.n_beyond for part in listed),
        )


@dataclass(frozen=True)
class Assignment:
    """What each document of the collection gives way to.

    ``keepers`` is -1 for a document that stays, else the number of the one that stays for it;
    documents of the collection it is compared ``against`` are numbered first, of an index only
    those that others go for. ``similarities`` are NaN for documents that stay. ``exact`` marks
    exact copies of their keeper, none where ``copies_are_known`` is not so.
    """

    keepers: Int64s
    similarities: Floats
    exact: Bools
    copies_are_known: bool = True

    @property
    def stays(self) -> Bools:
        """Whether each document stays."""
        stays: Bools = self.keepers < 0
        return stays

    def with_firsts(self, n_others: int) -> Assignment:
        """Return the same where documents go for which others go, each for the first of these.

        ``n_others`` documents are numbered before those of the collection, and stay.
        """
        gone = np.flatnonzero(self.keepers >= n_others)
        keepers, at = np.unique(self.keepers[gone], return_index=True)
        firsts = keepers - n_others
        found = Assignment(self.keepers.copy(), self.similarities.copy(), self.exact.copy())
        found.keepers[firsts] = n_others + gone[at]
        found.similarities[firsts], found.exact[firsts] = 1.0, True
        return found

    def without(self, documents: Bools) -> Assignment:
        """Return the same where some documents stay."""
        return Assignment(
            np.where(documents, -1, self.keepers),
            np.where(documents, np.nan, self.similarities),
            self.exact & ~documents,
            self.copies_are_known,
        )


def decide(
    documents: Int64s,
    keys: KeyLists,
    sets: ShingleSets | WeightedSets,
    plan: DedupPlan,
    n_fixed: int,
    earlier: EarlierKeepers | None = None,
    progress: Callable[[int], None] | None = None,
    capacity: int | None = None,
) -> Decision:
    """Go through some contents in keep order and decide which of them stay.

    The first ``n_fixed`` stay in any case, and those that have an ``earlier`` keeper go. No
    document outside shares a component with them. ``capacity`` as for ``choose_survivors``.
    """
    chosen = choose_survivors(
        keys,
        sets,
        plan.measure,
        n_fixed=n_fixed,
        earlier=earlier,
        progress=progress,
        capacity=capacity,
    )
    joined = None
    if plan.options.clusters == "components":
        joined = join_components(
            keys, sets, plan.measure, n_fixed=n_fixed, progress=progress, capacity=capacity
        )
    return _decision(documents, chosen, joined)


def decide_within(
    documents: Int64s,
    keys: Uint64s,
    components: Int64s,
    sizes: Int64s,
    read_sets: SetReader,
    plan: DedupPlan,
    n_fixed: int,
    capacity: int | None,
    earlier: EarlierKeepers | None = None,
    *,
    are_in_memory: bool = False,
) -> Decision:
    """Decide as ``decide`` with so many elements in memory at once, None for all.

    Arguments as of ``choose_in_chunks``. All sets ``are_in_memory`` in any case, or are read; to
    rank them takes as much memory again in both cases.
    """
    if capacity is None or are_in_memory or int(sizes.sum()) <= capacity:
        own_sets = read_sets(np.arange(len(documents)))
        lists = list_full_keys(keys, components)
        ranked = None if capacity is None else capacity // 2
        return decide(documents, lists, own_sets, plan, n_fixed, earlier, capacity=ranked)
    chosen = choose_in_chunks(
        keys,
        sizes,
        read_sets,
        plan.measure,
        components=components,
        n_fixed=n_fixed,
        earlier=earlier,
        capacity=capacity,
    )
    joined = None
    if plan.options.clusters == "components":
        joined = join_in_chunks(
            keys,
            sizes,
            read_sets,
            plan.measure,
            chosen,
            components=components,
            n_fixed=n_fixed,
            capacity=capacity,
        )
    return _decision(documents, chosen, joined)


def _decision(documents: Int64s, chosen: Removals, joined: Removals | None) -> Decision:
    """Return what was decided of contents, by the numbers of their documents.

    Counts are those of the survivors: how many pairs it takes to join the rest depends on the order
    in which they meet.
    """
    removals = chosen if joined is None else joined
    gone = np.flatnonzero(removals.keepers >= 0)
    return Decision(
        documents[gone],
        documents[removals.keepers[gone]],
        removals.similarities[gone],
        chosen.n_compared,
        chosen.n_verified,
        len(gone) - int(np.count_nonzero(chosen.keepers >= 0)),
    )


def assign(contents: Contents, decision: Decision) -> Assignment:
    """Carry the decision about contents over to documents.

    An exact copy follows its content: where that stays, the content's first document stays and
    its copies go for it; where it goes, all its documents go for the same keeper.
    """
    n_other, earlier = len(contents.other), contents.earlier
    gone_for: Int64s = np.full(len(contents.firsts), -1, np.int64)
    similarity_of = np.full(len(contents.firsts), np.nan)
    # Documents of an index are not among those that were decided.
    n_of_index = contents.n_others - n_other
    if earlier is not None:
        gone_for[earlier.rows] = earlier.places
        similarity_of[earlier.rows] = earlier.keepers.similarities
    gone_for[decision.documents] = n_of_index + decision.keepers
    similarity_of[decision.documents] = decision.similarities

    firsts = contents.firsts[n_other:]
    filled = np.flatnonzero(firsts >= 0)
    first = firsts[filled]
    exact = np.zeros(len(firsts), np.bool_)
    exact[filled] = (gone_for[first] < 0) & (first != filled + n_other)
    keepers: Int64s = np.full(len(firsts), -1, np.int64)
    keepers[filled] = gone_for[first]
    keepers[exact] = n_of_index + firsts[exact]
    similarities = np.full(len(firsts), np.nan)
    similarities[filled] = similarity_of[first]
    similarities[exact] = 1.0
    if earlier is not None:
        # What is a copy of one of the other collection is that, whatever the index has, unless it
        # is denied.
        rows, is_denied = earlier.rows - n_other, earlier.are_denied
        keepers[rows[is_denied]] = earlier.places[is_denied]
        is_own = is_denied | (firsts[rows] >= n_other)
        exact[rows[is_own]] = earlier.keepers.are_copies[is_own]
    return Assignment(keepers, similarities, exact)


# Which method a job takes where it may choose: by work counted on a sample, never by the clock.

# Distinct texts whose prefixes are counted.
SAMPLE_TEXTS = 2000

# Seconds of one core: an element ranked and listed; a record met under a prefix token; an element
# signed by one hash function; a band key sorted. Rounded from the benchmarks of kernels and joins.
_RANK, _MEET, _SIGN_SECONDS, _SORT_SECONDS = 45e-9, 27e-9, 0.08e-9, 40e-9
# Of weighted sets: an element is weighed again, no parities rule out what meets, and functions draw
# numbers for each element.
_RANK_WEIGHTED, _MEET_WEIGHTED, _SIGN_WEIGHTED = 150e-9, 300e-9, 2e-9

# Exact where that takes no more than so many times the work of sketches, or hardly any at all.
_PATIENCE = 2.0
_HARDLY_ANY = 1.0

# Elements that an exact join holds in memory, so many bytes each, plain and weighted.
_MOST_ELEMENTS = 50_000_000
_BYTES_OF_ELEMENT, _BYTES_OF_WEIGHTED = 30, 48


@dataclass(frozen=True)
class MethodChoice:
    """The method, and the work that either would be, in seconds of one core.

    ``exact`` is None where so much memory would be needed that it was not looked into.
    """

    method: Literal["exact", "minhash"]
    exact: float | None
    minhash: float

    def describe(self) -> dict[str, object]:
        """Give it as plain values for a summary."""
        exact = None if self.exact is None else round(self.exact, 3)
        return {"chosen": self.method, "exact": exact, "minhash": round(self.minhash, 3)}


def count_elements(contents: Contents, plan: DedupPlan) -> int:
    """Count the shingles of all contents, repeats included."""
    n_tokens = contents.n_tokens_of(np.flatnonzero(contents.is_content))
    return int(np.maximum(n_tokens - plan.reading.shingles.ngram + 1, 1).sum())


def check_fits(contents: Contents, plan: DedupPlan, workspace: Workspace, option: str) -> None:
    """Make sure that what an exact join holds of all contents fits in memory."""
    of_element = _BYTES_OF_WEIGHTED if plan.reading.weighted else _BYTES_OF_ELEMENT
    needed = of_element * count_elements(contents, plan)
    if not workspace.fits(needed, 1.0):
        what = "audit" if option == "audit" else f"{option} exact"
        remedy = "leave it out" if option == "audit" else f"choose {option} minhash"
        message = (
            f"{what} compares all texts at once and takes about {needed / 1e6:,.0f} MB for that, "
            f"of {workspace.memory / 1e6:,.0f} MB that may be used; {remedy}, or raise memory"
        )
        raise InvalidParameterError(message, option, "memory")


def choose_method(contents: Contents, plan: DedupPlan, runner: Runner) -> MethodChoice:
    """Count the elements of all distinct texts and, on a sample, how often prefixes meet.

    Meetings grow with the square of the number of texts.
    """
    documents = contents.in_keep_order()
    n_contents = len(documents)
    n_elements = count_elements(contents, plan)
    banding = plan.banding
    rank, meet, sign = _RANK, _MEET, _SIGN_SECONDS
    if plan.reading.weighted:
        rank, meet, sign = _RANK_WEIGHTED, _MEET_WEIGHTED, _SIGN_WEIGHTED
    minhash = n_elements * banding.num_perm * sign + n_contents * banding.bands * _SORT_SECONDS
    if plan.options.bands is not None or n_elements > _MOST_ELEMENTS:
        return MethodChoice("minhash", None, minhash)
    n_sample = min(n_contents, SAMPLE_TEXTS)
    sample = documents[np.linspace(0, n_contents - 1, n_sample).astype(np.int64)]
    sets = contents.read_comparable(np.sort(sample), plan.reading, runner)
    lists = list_prefixes(sets, plan.measure)
    met = float((lists.sizes * (lists.sizes - 1) / 2).sum())
    scale = n_contents / n_sample if n_sample else 0.0
    exact = n_elements * rank + met * scale * scale * meet
    is_cheap = exact <= max(_PATIENCE * minhash, _HARDLY_ANY)
    return MethodChoice("exact" if is_cheap else "minhash", exact, minhash)


# Partitions a worker where memory would allow less, so that workers end together.
_PARTITIONS_A_WORKER = 8

# The share of the memory that the sets of all live documents may take together.
_SETS_SHARE = 0.5


def choose_by_buckets(
    batches: SignedBatches,
    contents: Contents,
    plan: DedupPlan,
    workspace: Workspace,
    runner: Runner,
) -> Decision:
    """Decide contents that share a bucket: stages components, exchange, sieve and decide."""
    room = room_of_partition(workspace, runner.workers + 1)
    with runner.stage("bucket") as note:

        def find_partitions() -> Partitions:
            # Where only survivors matter, contents that stay in any case need not meet.
            by_components = plan.options.clusters == "components"
            are_ignored = None if by_components else contents.need_not_meet()
            roots = find_components(batches, contents, workspace, runner, are_ignored)
            n_least = _PARTITIONS_A_WORKER * runner.workers
            return pack_components(roots, contents, plan.reading, room, n_least)

        partitions = Partitions.kept(workspace, find_partitions)
        keys = exchange_keys(batches, contents, partitions, workspace, runner)
        note(candidates=len(partitions.documents))
    with runner.stage("sieve") as note:

        def find_live() -> dict[str, AnyArray]:
            return {"components": sieve(partitions, keys, contents, plan, runner)}

        components = kept_arrays(workspace, "sieve", find_live)["components"]
        is_live = components >= 0
        note(candidates=int(is_live.sum()))
    n_tokens = contents.n_tokens_of(partitions.documents)
    with runner.stage("compare"):
        texts, sets = None, None
        if workspace.fits(8 * int(n_tokens[is_live].sum()), _SETS_SHARE):
            sets = contents.read_comparable(partitions.documents[is_live], plan.reading, runner)
        else:
            texts = exchange_texts(contents, partitions, is_live, plan.reading, workspace, runner)
    with runner.stage("choose") as note:
        decided = runner.counter("choose", int(is_live.sum()))
        # Elements that a partition may have in memory.
        capacity = None if room is None else room // (16 if plan.reading.weighted else 8)
        # Place of each live document among all live ones, which is where its set is.
        rows = np.cumsum(is_live) - 1

        def decide_partition(partition: int) -> Decision:
            within = partitions.places(partition)
            live = np.flatnonzero(is_live[within])
            places = live + within.start
            documents = partitions.documents[places]
            n_fixed = contents.count_fixed(documents)
            band_keys = read_candidates(keys, partition, batches.n_bands).keys[live]
            own_components, sizes = components[places], n_tokens[places]
            known = contents.earlier

            def read_some(documents: Int64s) -> ShingleSets | WeightedSets:
                wanted = places[documents]
                if texts is None:
                    assert sets is not None
                    return sets.take(rows[wanted])
                return read_sets(texts, partition, wanted, n_tokens[wanted], plan.reading)

            return decide_within(
                documents,
                band_keys,
                own_components,
                sizes,
                read_some,
                plan,
                n_fixed,
                capacity,
                None if known is None else known.of_documents(documents),
                are_in_memory=texts is None,
            )

        def kept_decision(partition: int) -> Decision:
            arrays = kept_arrays(
                workspace,
                f"decide-{partition:05d}",
                lambda: decide_partition(partition).as_arrays(),
            )
            within = partitions.places(partition)
            decided(int(np.count_nonzero(is_live[within])))
            return Decision.from_arrays(arrays)

        decision = Decision.of_all(runner.map(kept_decision, range(len(partitions))))
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision


def sieve(
    partitions: Partitions, keys: Shuffle, contents: Contents, plan: DedupPlan, runner: Runner
) -> Int64s:
    """Return the new component of each candidate, -1 for one that is similar to no other.

    Filters tell most pairs apart that share a bucket without being similar.
    """
    components: Int64s = np.full(len(partitions.documents), -1, np.int64)
    are_fixed = contents.need_not_meet()[partitions.documents]
    sieved = runner.counter("sieve", len(components))

    def sieve_partition(partition: int) -> None:
        within = partitions.places(partition)
        candidates = read_candidates(keys, partition, plan.banding.bands)
        own_components = partitions.components[within]
        firsts = sieve_candidates(own_components, candidates, are_fixed[within], plan)
        is_live = firsts >= 0
        components[within][is_live] = firsts[is_live] + within.start
        sieved(len(firsts))

    for _ in runner.map(sieve_partition, range(len(partitions))):
        pass
    return components


def sieve_candidates(
    components: Int64s, candidates: Candidates, are_fixed: Bools, plan: DedupPlan
) -> Int64s:
    """Return the first document of the new component of each candidate of a partition.

    -1 for one that is similar to no other, as filters prove.
    """
    by_components = plan.options.clusters == "components"
    firsts = sieve_components(
        components,
        candidates.keys,
        candidates.filters,
        plan.measure,
        are_fixed=are_fixed,
        with_fixed=by_components,
        either_way=by_components,
    )
    firsts[np.bincount(firsts, minlength=len(firsts))[firsts] == 1] = -1
    return firsts


def choose_exactly(contents: Contents, plan: DedupPlan, runner: Runner) -> Decision:
    """Decide all contents at once, by the elements that they share; no pair is missed."""
    documents = contents.in_keep_order()
    with runner.stage("compare"):
        sets = contents.read_comparable(documents, plan.reading, runner)
        lists = list_prefixes(sets, plan.measure)
    with runner.stage("choose") as note:
        n_fixed = contents.count_fixed(documents)

        def report(done: int) -> None:
            runner.report("choose", done, len(documents))

        decision = decide(documents, lists, sets, plan, n_fixed, progress=report)
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision
