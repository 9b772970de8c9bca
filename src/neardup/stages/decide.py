"""The stage decide: choose the contents that stay, by buckets or all at once.

The decision about contents is then extended to all documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from neardup.engine.engine import Engine, Read
from neardup.engine.partitions import DocumentPartition, Exchanged, Partitions
from neardup.errors import InvalidParameterError
from neardup.matching.prefixes import list_prefixes
from neardup.matching.sieve import sieve_components
from neardup.matching.survivors import (
    SetReader,
    UnreadSets,
    choose_in_chunks,
    choose_survivors,
    join_components,
    join_in_chunks,
)
from neardup.runs.arrays import AnyArray
from neardup.runs.runner import Runner
from neardup.stages.components import (
    Candidates,
    candidates_in,
    exchange_candidates,
    find_components,
    pack_components,
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
    from neardup.runs.work import Workspace


@dataclass(frozen=True)
class Decision:
    """Removed contents, by their first documents, and their keepers.

    ``n_compared`` pairs were compared exactly, ``n_verified`` of them reached the threshold.
    ``n_beyond`` contents are removed only by the option ``components``.
    """

    documents: Int64s
    keepers: Int64s
    similarities: Floats
    n_compared: int = 0
    n_verified: int = 0
    n_beyond: int = 0

    def as_arrays(self) -> dict[str, AnyArray]:
        """Return the decision as arrays for storage, counts included."""
        counts = np.array([self.n_compared, self.n_verified, self.n_beyond])
        return {
            "documents": self.documents,
            "keepers": self.keepers,
            "similarities": self.similarities,
            "counts": counts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Decision:
        """Restore a decision from ``as_arrays``."""
        counts = arrays["counts"].tolist()
        return cls(arrays["documents"], arrays["keepers"], arrays["similarities"], *counts)

    @classmethod
    def of_all(cls, parts: Iterable[Decision]) -> Decision:
        """Join the decisions of all partitions."""
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
    """Keeper of each document of the collection.

    ``keepers`` is -1 for a document that stays, else the number of its keeper; documents of the
    reference collection ``against`` are numbered first, and of an index only those that are
    keepers. ``similarities`` are NaN for documents that stay. ``exact`` marks exact copies of their
    keeper; it is all false unless ``copies_are_known``.
    """

    keepers: Int64s
    similarities: Floats
    exact: Bools
    copies_are_known: bool = True

    @property
    def stays(self) -> Bools:
        """Mask of documents that stay."""
        stays: Bools = self.keepers < 0
        return stays

    def with_firsts(self, n_others: int) -> Assignment:
        """Return the assignment with removed keepers replaced by their first member.

        ``n_others`` documents are numbered before the collection, and stay.
        """
        gone = np.flatnonzero(self.keepers >= n_others)
        keepers, at = np.unique(self.keepers[gone], return_index=True)
        firsts = keepers - n_others
        found = Assignment(self.keepers.copy(), self.similarities.copy(), self.exact.copy())
        found.keepers[firsts] = n_others + gone[at]
        found.similarities[firsts], found.exact[firsts] = 1.0, True
        return found

    def without(self, documents: Bools) -> Assignment:
        """Return the assignment with some documents kept."""
        return Assignment(
            np.where(documents, -1, self.keepers),
            np.where(documents, np.nan, self.similarities),
            self.exact & ~documents,
            self.copies_are_known,
        )


@dataclass(frozen=True)
class Compared:
    """Contents that are decided together, in keep order.

    The first ``n_fixed`` stay in any case, and contents with an ``earlier`` keeper are removed. No
    component extends beyond them.
    """

    documents: Int64s
    n_fixed: int
    earlier: EarlierKeepers | None = None


@dataclass(frozen=True)
class Live(Compared):
    """Contents of a partition that may be similar to another in their component.

    Each has its position in ``places``, counted from the partition's ``start``, and its
    ``n_tokens``.
    """

    _: KW_ONLY
    start: int
    places: Int64s
    components: Int64s
    n_tokens: Int64s


def decide(
    compared: Compared,
    keys: KeyLists,
    sets: ShingleSets | WeightedSets,
    plan: DedupPlan,
    progress: Callable[[int], None] | None = None,
    capacity: int | None = None,
) -> Decision:
    """Decide in keep order which contents stay.

    ``capacity`` as for ``choose_survivors``.
    """
    n_fixed = compared.n_fixed
    chosen = choose_survivors(
        keys,
        sets,
        plan.measure,
        n_fixed=n_fixed,
        earlier=compared.earlier,
        progress=progress,
        capacity=capacity,
    )
    joined = None
    if plan.options.clusters == "components":
        joined = join_components(
            keys, sets, plan.measure, n_fixed=n_fixed, progress=progress, capacity=capacity
        )
    return _decision(compared.documents, chosen, joined)


def decide_within(
    live: Live,
    keys: Uint64s,
    read_sets: SetReader,
    plan: DedupPlan,
    capacity: int | None,
    *,
    are_in_memory: bool = False,
) -> Decision:
    """Decide as ``decide`` within a memory limit of elements, None for no limit.

    Keys and reader as of ``UnreadSets``. With ``are_in_memory`` all sets are in memory anyway,
    otherwise they are read; ranking takes as much memory again in both cases.
    """
    unread = UnreadSets(keys, live.n_tokens, read_sets, live.n_fixed, live.components)
    if capacity is None or are_in_memory or int(live.n_tokens.sum()) <= capacity:
        own_sets = read_sets(np.arange(len(unread)))
        ranked = None if capacity is None else capacity // 2
        return decide(live, unread.list_keys(), own_sets, plan, capacity=ranked)
    measure, joined = plan.measure, None
    chosen = choose_in_chunks(unread, measure, capacity=capacity, earlier=live.earlier)
    if plan.options.clusters == "components":
        joined = join_in_chunks(unread, measure, chosen, capacity=capacity)
    return _decision(live.documents, chosen, joined)


def _decision(documents: Int64s, chosen: Removals, joined: Removals | None) -> Decision:
    """Return the decision about contents by document number.

    The counts are from ``choose_survivors``; joining all members of a component adds pairs whose
    number depends on the order.
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
    """Extend the decision about contents to documents.

    An exact copy follows its content: if it stays, the content's first document stays and replaces
    its copies; if it is removed, all its documents get the same keeper.
    """
    n_other, earlier = len(contents.other), contents.earlier
    gone_for: Int64s = np.full(len(contents.firsts), -1, np.int64)
    similarity_of = np.full(len(contents.firsts), np.nan)
    # Index documents were not part of the decision.
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
        # A copy of a document of the other collection has it as keeper, whatever the index has,
        # unless it is denied.
        rows, is_denied = earlier.rows - n_other, earlier.are_denied
        keepers[rows[is_denied]] = earlier.places[is_denied]
        is_own = is_denied | (firsts[rows] >= n_other)
        exact[rows[is_own]] = earlier.keepers.are_copies[is_own]
    return Assignment(keepers, similarities, exact)


# Automatic choice of the method: by operations counted on a sample, never by the clock.

# Distinct texts whose prefixes are counted.
SAMPLE_TEXTS = 2000

# Seconds of one core: to rank and list an element; to match a record under a prefix token; to sign
# an element with one hash function; to sort a band key. Rounded from the benchmarks of kernels and
# joins.
_RANK, _MEET, _SIGN_SECONDS, _SORT_SECONDS = 45e-9, 27e-9, 0.08e-9, 40e-9
# For weighted sets: elements are weighed again, no bit filter rejects candidates, and random
# numbers are drawn per element.
_RANK_WEIGHTED, _MEET_WEIGHTED, _SIGN_WEIGHTED = 150e-9, 300e-9, 2e-9

# Exact is chosen up to this multiple of the work of sketches, and for little work.
_PATIENCE = 2.0
_HARDLY_ANY = 1.0

# Elements that an exact join may hold in memory, and bytes per element, plain and weighted.
_MOST_ELEMENTS = 50_000_000
_BYTES_OF_ELEMENT, _BYTES_OF_WEIGHTED = 30, 48


@dataclass(frozen=True)
class MethodChoice:
    """The chosen method, and the work of both, in seconds of one core.

    ``exact`` is None if it would need too much memory.
    """

    method: Literal["exact", "minhash"]
    exact: float | None
    minhash: float

    def describe(self) -> dict[str, object]:
        """Return the choice as plain values for a summary."""
        exact = None if self.exact is None else round(self.exact, 3)
        return {"chosen": self.method, "exact": exact, "minhash": round(self.minhash, 3)}


def count_elements(contents: Contents, plan: DedupPlan) -> int:
    """Count the shingles of all contents, repeats included."""
    n_tokens = contents.n_tokens_of(np.flatnonzero(contents.is_content))
    return int(np.maximum(n_tokens - plan.reading.shingles.ngram + 1, 1).sum())


def check_fits(contents: Contents, plan: DedupPlan, workspace: Workspace, option: str) -> None:
    """Check that an exact join of all contents fits in memory."""
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
    """Choose by the number of elements, and by prefix matches in a sample.

    Matches grow with the square of the number of texts.
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


def choose_by_buckets(engine: Engine, read: Read, contents: Contents, plan: DedupPlan) -> Decision:
    """Decide contents that share a bucket: stages components, exchange, sieve and decide."""
    n_bands = plan.banding.bands
    with engine.stage("bucket") as note:

        def find_partitions() -> Partitions:
            # If only survivors matter, contents that stay in any case need no comparison with each
            # other.
            by_components = plan.options.clusters == "components"
            are_ignored = None if by_components else contents.need_not_meet()
            roots = find_components(engine, read, contents, n_bands, are_ignored)
            room, n_least = engine.partition_bytes, engine.least_partitions
            return pack_components(roots, contents, plan.reading, room, n_least)

        partitions = Partitions.kept(engine.workspace, find_partitions)
        candidates = exchange_candidates(engine, read, partitions, n_bands)
        note(candidates=len(partitions.documents))
    with engine.stage("sieve") as note:
        components = _sieve(candidates, partitions, contents, plan)
        is_live = components >= 0
        note(candidates=int(is_live.sum()))
    with engine.stage("compare"):
        candidates = candidates.with_sets(is_live)
    with engine.stage("choose") as note:
        room = engine.partition_bytes
        # Maximum elements of a partition in memory.
        capacity = None if room is None else room // (16 if plan.reading.weighted else 8)

        def live_in(partition: int) -> Live:
            within = partitions.places(partition)
            places = np.flatnonzero(is_live[within]) + within.start
            documents, known = partitions.documents[places], contents.earlier
            return Live(
                documents,
                contents.count_fixed(documents),
                None if known is None else known.of_documents(documents),
                start=within.start,
                places=places,
                components=components[places],
                n_tokens=contents.n_tokens_of(documents),
            )

        deciding = partial(_decide_partition, plan, capacity)
        made = candidates.work("choose", deciding, live_in)
        decision = Decision.of_all(map(Decision.from_arrays, made))
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision


def _decide_partition(
    plan: DedupPlan, capacity: int | None, partition: DocumentPartition
) -> dict[str, AnyArray]:
    live: Live = partition.facts
    if not len(live.documents):
        return Decision.of_all([]).as_arrays()
    keys = candidates_in(partition, plan.banding.bands).keys[live.places - live.start]

    def read_some(documents: Int64s) -> ShingleSets | WeightedSets:
        return partition.read_sets(live.places[documents], live.n_tokens[documents])

    decision = decide_within(
        live, keys, read_some, plan, capacity, are_in_memory=partition.has_sets
    )
    return decision.as_arrays()


def _sieve(
    candidates: Exchanged, partitions: Partitions, contents: Contents, plan: DedupPlan
) -> Int64s:
    """Return the new component of each candidate, -1 for a candidate without a similar one.

    Filters reject most dissimilar pairs that share a bucket.
    """
    components: Int64s = np.full(len(partitions.documents), -1, np.int64)
    are_fixed = contents.need_not_meet()[partitions.documents]

    def known_of(partition: int) -> tuple[int, Int64s, Bools]:
        within = partitions.places(partition)
        return within.start, partitions.components[within], are_fixed[within]

    for found in candidates.work("sieve", partial(_sieve_partition, plan), known_of):
        components[found["places"]] = found["components"]
    return components


def _sieve_partition(plan: DedupPlan, partition: DocumentPartition) -> dict[str, AnyArray]:
    start, components, are_fixed = partition.facts
    candidates = candidates_in(partition, plan.banding.bands)
    firsts = sieve_candidates(components, candidates, are_fixed, plan)
    live = np.flatnonzero(firsts >= 0)
    return {"places": live + start, "components": firsts[live] + start}


def sieve_candidates(
    components: Int64s, candidates: Candidates, are_fixed: Bools, plan: DedupPlan
) -> Int64s:
    """Return the first document of each candidate's new component in a partition.

    It is -1 if the filters prove that no other candidate is similar.
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
    """Decide all contents at once by their common elements, without missing a pair."""
    documents = contents.in_keep_order()
    with runner.stage("compare"):
        sets = contents.read_comparable(documents, plan.reading, runner)
        lists = list_prefixes(sets, plan.measure)
    with runner.stage("choose") as note:
        n_fixed = contents.count_fixed(documents)

        def report(done: int) -> None:
            runner.report("choose", done, len(documents))

        decision = decide(Compared(documents, n_fixed), lists, sets, plan, progress=report)
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision
