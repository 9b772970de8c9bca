"""Decide which documents stay: group copies, connect buckets, sieve and compare contents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from neardup.engine.engine import Engine, Read
from neardup.engine.partitions import (
    Columns,
    DocumentPartition,
    DocumentRows,
    Exchanged,
    Keys,
    Partitions,
)
from neardup.errors import InvalidParameterError
from neardup.files.rows import Source
from neardup.kernels.common.union_find import find_roots, union_edges
from neardup.matching.buckets import list_prefixes, star_edges
from neardup.matching.keep import KeepPolicy
from neardup.matching.sieve import sieve_components
from neardup.matching.survivors import (
    SetReader,
    UnreadSets,
    choose_in_chunks,
    choose_survivors,
    join_components,
    join_in_chunks,
)
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import ContentTable, assign_firsts, read_comparable
from neardup.reading.sign import (
    NO_KEY,
    ReadingPlan,
    SignedBatches,
    digests_of,
    filter_column,
    filters_of,
    take_filters,
    within_block,
)
from neardup.runs.arrays import AnyArray
from neardup.runs.runner import Runner
from neardup.stages.options import DedupPlan, other_columns_of
from neardup.tables import (
    Bools,
    Digests,
    EarlierKeepers,
    Filters,
    Floats,
    Int64s,
    KeyLists,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
)

if TYPE_CHECKING:
    import pyarrow as pa

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


# Documents of some collections, numbered together, and their contents.


class NumberedContents(ABC):
    """Documents of consecutive collections, grouped by equal content.

    A content is identified by its first document in keep order: ``firsts`` has it for each
    document, -1 for a document without tokens. ``ranks`` are the documents' positions in keep
    order, None if they are in keep order.
    """

    firsts: Int64s
    ranks: Int64s | None

    @property
    @abstractmethod
    def catalogues(self) -> tuple[Catalogue, ...]:
        """The collections, in the order of document numbers."""

    @property
    def is_content(self) -> Bools:
        """Mask of documents that represent a content."""
        is_content: Bools = self.firsts == np.arange(len(self.firsts))
        return is_content

    def count(self) -> int:
        """Count the contents."""
        return int(np.count_nonzero(self.is_content))

    def sorted_by_rank(self, documents: Int64s) -> Int64s:
        """Return some documents in keep order."""
        return documents[np.argsort(self.ranks_of(documents), kind="stable")]

    def ranks_of(self, documents: Int64s) -> Int64s:
        """Return the positions of documents in keep order."""
        return documents if self.ranks is None else self.ranks[documents]

    def n_tokens_of(self, documents: Int64s) -> Int64s:
        """Return the token counts of documents."""
        n_tokens: Int64s = np.empty(len(documents), np.int64)
        first = 0
        for catalogue in self.catalogues:
            is_here = (documents >= first) & (documents < first + len(catalogue))
            n_tokens[is_here] = catalogue.n_tokens[documents[is_here] - first]
            first += len(catalogue)
        return n_tokens

    def read_comparable(
        self, documents: Int64s, reading: ReadingPlan, runner: Runner
    ) -> ShingleSets | WeightedSets:
        """Read the compared sets of documents."""
        wanted = self.by_catalogue(self.places_of(documents))
        return read_comparable(self.catalogues, wanted, reading, runner)

    def places_of(self, documents: Int64s) -> Int64s:
        """Return each document's position among some, -1 for none."""
        places: Int64s = np.full(len(self.firsts), -1, np.int64)
        places[documents] = np.arange(len(documents))
        return places

    def by_catalogue(self, values: Int64s) -> list[Int64s]:
        """Split an array over all documents into one per collection."""
        return np.split(values, np.cumsum([len(each) for each in self.catalogues])[:-1])


# Memory of a candidate in addition to its keys, filter and set.
_OVERHEAD = 120


# Memory per document while equal digests are grouped, or equal keys of a band.
_COPIES_BYTES, _BAND_BYTES = 110, 60


def find_firsts(engine: Engine, read: Read, ranks: Int64s | None) -> Int64s:
    """Find the first document with the same tokens, -1 without tokens.

    The first has the least rank, or with None the least number. Documents with different blocking
    keys do not match, and a document without a key matches none.
    """
    is_filled = np.concatenate([each.n_tokens for each in read.catalogues]) > 0
    blocking = read.known.blocking_keys()
    if blocking is not None:
        is_filled &= blocking != NO_KEY
    firsts: Int64s = np.where(is_filled, np.arange(len(is_filled)), -1)
    keys = Keys(_list_digests, 1, _COPIES_BYTES)
    for documents, contents in engine.meet(read, {}, keys, _number_copies):
        assign_firsts(documents, contents, ranks, firsts)
    return firsts


def _list_digests(documents: DocumentRows, _: int) -> Columns:
    digests = digests_of(documents.rows)
    filled = np.flatnonzero(digests.is_filled)
    low, high = digests.values.T
    return {"key": low[filled], "high": high[filled], "document": documents.first + filled}


def _number_copies(kinds: Iterator[Iterable[Columns]]) -> tuple[Int64s, Int64s]:
    """Return the documents with a copy, and the number of their content."""
    table = ContentTable()
    documents, contents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for columns in chain.from_iterable(kinds):
        values = np.column_stack([columns["key"], columns["high"]])
        digests = Digests(values, np.ones(len(values), np.bool_))
        contents.append(table.number(digests).numbers)
        documents.append(columns["document"])
    numbers = np.concatenate(contents)
    are_shared = (np.bincount(numbers, minlength=1) > 1)[numbers]
    return np.concatenate(documents)[are_shared], numbers[are_shared]


# Role of a document in its bucket: not a content, connected to others, or not to be compared with
# other documents of this role.
_NO_CONTENT, _MEETS, _IS_IGNORED = range(3)


def find_components(
    engine: Engine,
    read: Read,
    contents: NumberedContents,
    n_bands: int,
    are_ignored: Bools | None = None,
) -> Int64s:
    """Find the first document of each component; other documents are their own.

    Contents are connected if they share a full 64-bit band key, directly or through others. Two
    documents that ``are_ignored`` are not connected directly.
    """
    roles = np.where(contents.is_content, _MEETS, _NO_CONTENT).astype(np.int8)
    if are_ignored is not None:
        roles[contents.is_content & are_ignored] = _IS_IGNORED
    parents: Int64s = np.arange(len(roles), dtype=np.int64)
    keys = Keys(_list_band, n_bands, _BAND_BYTES)
    for firsts, members in engine.meet(read, {"role": roles}, keys, _connect, "bucket"):
        union_edges(parents, firsts, members)
    find_roots(parents)
    return parents


def _list_band(documents: DocumentRows, band: int) -> Columns:
    roles = documents.given["role"]
    rows = np.flatnonzero(roles != _NO_CONTENT)
    keys = within_block(documents.rows, f"key_{band}")[rows]
    return {
        "key": keys,
        "document": documents.first + rows,
        "is_ignored": roles[rows] == _IS_IGNORED,
    }


def _connect(bands: Iterator[Iterable[Columns]]) -> tuple[Int64s, Int64s]:
    """Return edges between documents with the same key in a band; for several bands, a forest."""
    found = [_star_edges_of(list(parts)) for parts in bands]
    if len(found) == 1:
        return found[0]
    firsts, members = map(np.concatenate, zip(*found, strict=True))
    documents, places = np.unique(np.concatenate([firsts, members]), return_inverse=True)
    parents: Int64s = np.arange(len(documents), dtype=np.int64)
    union_edges(parents, places[: len(firsts)], places[len(firsts) :])
    find_roots(parents)
    joined = np.flatnonzero(parents != np.arange(len(parents)))
    return documents[parents[joined]], documents[joined]


def _star_edges_of(parts: Sequence[Columns]) -> tuple[Int64s, Int64s]:
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    keys, documents, ignored = (
        np.concatenate([part[name] for part in parts]) for name in ("key", "document", "is_ignored")
    )
    firsts, members = star_edges(keys, are_ignored=ignored)
    return documents[firsts], documents[members]


def pack_components(
    roots: Int64s,
    contents: NumberedContents,
    reading: ReadingPlan,
    room: int | None,
    n_least: int = 1,
    are_packed: Bools | None = None,
) -> Partitions:
    """Pack components into partitions, in the order of their first documents.

    Parameters
    ----------
    roots
        First document of each document's component.
    contents
        Contents in the components.
    reading
        Plan that defines the memory per document.
    room
        Maximum bytes of a partition for comparisons, None for no limit. A larger component gets its
        own partition.
    n_least
        Least number of partitions of similar size.
    are_packed
        Documents that are packed although their component has no other document.
    """
    has_place = contents.is_content & ~(np.bincount(roots, minlength=len(roots)) == 1)[roots]
    if are_packed is not None:
        has_place |= are_packed
    documents = contents.sorted_by_rank(np.flatnonzero(has_place))
    order = np.argsort(roots[documents], kind="stable")
    documents = documents[order]
    components = roots[documents]
    ends = np.flatnonzero(np.diff(components, append=-1)) + 1
    n_tokens = contents.n_tokens_of(documents)
    costs: Int64s = np.concatenate([[0], np.cumsum(bytes_of(n_tokens, reading))])
    evenly = -(-int(costs[-1]) // n_least)
    bounds = _cut(ends, costs[ends], evenly if room is None else min(evenly, room))
    for start, stop in pairwise(bounds.tolist()):
        # In keep order within the partition, across components.
        order = np.argsort(contents.ranks_of(documents[start:stop]))
        documents[start:stop] = documents[start:stop][order]
        components[start:stop] = components[start:stop][order]
    return Partitions(documents, components, bounds)


def bytes_of(n_tokens: Int64s, reading: ReadingPlan) -> Int64s:
    """Return the memory of compared documents, given their token counts."""
    n_shingles = np.maximum(n_tokens - reading.shingles.ngram + 1, 1)
    n_bands = reading.banding.bands if reading.banding else 0
    return (16 if reading.weighted else 8) * n_shingles + 8 * n_bands + _OVERHEAD


def _cut(ends: Int64s, costs: Int64s, capacity: int) -> Int64s:
    bounds, before = [0], 0
    while bounds[-1] < (ends[-1] if len(ends) else 0):
        last = int(np.searchsorted(costs, before + capacity, side="right")) - 1
        last = max(last, int(np.searchsorted(ends, bounds[-1], side="right")))
        bounds.append(int(ends[last]))
        before = int(costs[last])
    return np.array(bounds, np.int64)


# The stage exchange: send keys, filters and texts of candidates to their partitions.


@dataclass(frozen=True)
class Candidates:
    """Keys and filters of a partition's documents, in keep order.

    ``keys`` has shape (n, n_bands); ``filters`` may be None.
    """

    keys: Uint64s
    filters: Filters | None

    def __len__(self) -> int:
        return len(self.keys)


def exchange_candidates(
    engine: Engine, read: Read, partitions: Partitions, n_bands: int
) -> Exchanged:
    """Send keys and filters of all candidates to their partitions."""
    return engine.exchange("keys", read, partial(_pick_candidates, n_bands), partitions)


def _pick_candidates(n_bands: int, batch: pa.RecordBatch, rows: Int64s) -> pa.RecordBatch:
    """Pick keys, grouped by document, and filters of some documents of a batch."""
    import pyarrow as pa

    keys: Uint64s = np.empty((len(rows), n_bands), np.uint64)
    for band, of_band in enumerate(keys.T):
        of_band[:] = within_block(batch, f"key_{band}")[rows]
    columns = {"keys": pa.FixedSizeListArray.from_arrays(pa.array(keys.ravel()), n_bands)}
    filters = filters_of(batch)
    if filters is not None:
        taken = take_filters(filters, rows)
        columns |= {"filter": filter_column(taken), "filter_sizes": pa.array(taken.sizes)}
    return pa.RecordBatch.from_pydict(columns)


def candidates_in(partition: DocumentPartition, n_bands: int) -> Candidates:
    """Return keys and filters of the documents of a partition."""
    batch = partition.rows_by_place()
    if batch is None:
        return Candidates(np.empty((0, n_bands), np.uint64), None)
    return candidates_of(batch, n_bands)


def candidates_of(batch: pa.RecordBatch, n_bands: int) -> Candidates:
    """Return keys and filters from rows of ``candidate_rows``, in the same order."""
    values = batch.column("keys").flatten().to_numpy().reshape(-1, n_bands)
    return Candidates(values, filters_of(batch))


# Documents removed in favour of an index document, unless a kept one is more similar.


@dataclass(frozen=True)
class Earlier:
    """Documents similar to an index document, and that document.

    ``rows`` are their ascending numbers, ``keepers`` the index documents. None of the rows stays.
    The index numbers its denied documents from ``first_denied`` on.
    """

    rows: Int64s
    keepers: EarlierKeepers
    first_denied: int

    @classmethod
    def of(cls, batches: SignedBatches, first_denied: int) -> Earlier:
        """Collect them from signed documents."""
        rows, found = [np.empty(0, np.int64)], []
        for start, keepers in batches.earlier():
            here = np.flatnonzero(keepers.documents >= 0)
            rows.append(start + here)
            found.append(keepers.take(here))
        return cls(np.concatenate(rows), EarlierKeepers.joined(found), first_denied)

    @cached_property
    def index_documents(self) -> Int64s:
        """Distinct index documents that replace others, ascending."""
        return np.unique(self.keepers.documents)

    @property
    def places(self) -> Int64s:
        """Positions of the keepers in ``index_documents``."""
        return np.searchsorted(self.index_documents, self.keepers.documents)

    @property
    def are_denied(self) -> Bools:
        """Mask of documents with the same tokens as a denied one."""
        return self.keepers.are_copies & (self.keepers.documents >= self.first_denied)

    @property
    def settled(self) -> Int64s:
        """Documents whose keeper is final."""
        return self.rows[self.keepers.are_settled]

    def of_documents(self, documents: Int64s) -> EarlierKeepers:
        """Return the keepers of documents; -1 for none."""
        if not len(self.rows):
            return EarlierKeepers.none(len(documents))
        places = np.minimum(np.searchsorted(self.rows, documents), len(self.rows) - 1)
        found = self.keepers.take(places)
        found.documents[self.rows[places] != documents] = -1
        return found


@dataclass(frozen=True)
class Contents(NumberedContents):
    """Contents of a collection and of its reference collection.

    Documents of ``other`` are numbered before ``own``; all of them stay. With an index as a further
    reference, ``earlier`` are documents with a keeper there; documents with a final keeper take no
    further part.
    """

    own: Catalogue
    other: Catalogue
    firsts: Int64s
    ranks: Int64s | None
    earlier: Earlier | None = None

    @property
    def is_content(self) -> Bools:
        """Mask of documents that represent a content to be compared."""
        is_content = super().is_content
        if self.earlier is not None:
            is_content[self.earlier.settled] = False
        return is_content

    @property
    def n_others(self) -> int:
        """Number of documents before ``own`` in an assignment.

        They are the index documents that replace others, then the other collection.
        """
        n_of_index = 0 if self.earlier is None else len(self.earlier.index_documents)
        return n_of_index + len(self.other)

    def count(self) -> int:
        """Count all contents."""
        return int(np.count_nonzero(super().is_content))

    @property
    def catalogues(self) -> tuple[Catalogue, Catalogue]:
        """Both collections, in the order of document numbers."""
        return self.other, self.own

    def in_keep_order(self) -> Int64s:
        """Return the documents of contents; documents that stay in any case come first."""
        return self.sorted_by_rank(np.flatnonzero(self.is_content))

    def count_fixed(self, documents: Int64s) -> int:
        """Count the documents that stay in any case."""
        return int(np.count_nonzero(documents < len(self.other)))

    def need_not_meet(self) -> Bools:
        """Mask documents whose decision is known, so that no two of them are compared.

        A document with an index keeper is still compared with another collection, which may have a
        more similar document.
        """
        marks: Bools = np.arange(len(self.firsts)) < len(self.other)
        if self.earlier is not None and not len(self.other):
            marks[self.earlier.rows] = True
        return marks


def sign_documents(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: DedupPlan
) -> Read:
    """Read all documents once; the other collection comes first."""
    others = replace(plan.reading.for_other(other_columns_of(plan.options)), look_up=None)
    return engine.sign([(against, others), (sources, plan.reading)])


def find_contents(
    engine: Engine, read: Read, keep: KeepPolicy, first_denied: int | None = None
) -> Contents:
    """Find each content's first document in keep order.

    ``first_denied`` is the index's first denied document, if an index was searched.
    """
    other, own = read.catalogues
    ranks = rank_documents(own, other, keep)
    firsts = find_firsts(engine, read, ranks)
    earlier = None if first_denied is None else Earlier.of(read.known, first_denied)
    return Contents(own, other, firsts, ranks, earlier)


def rank_documents(own: Catalogue, other: Catalogue, keep: KeepPolicy) -> Int64s | None:
    """Return the positions of all documents in keep order, None if they are in keep order."""
    if keep.rule == "first":
        return None
    order = keep.order(len(own), own.lengths, own.order)
    ranks: Int64s = np.arange(len(other) + len(own), dtype=np.int64)
    ranks[len(other) + order] = np.arange(len(other), len(ranks))
    return ranks
