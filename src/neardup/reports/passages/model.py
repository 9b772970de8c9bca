"""What a page of passages is made of: documents, and passages of which each is in two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.ids import hash_id, hash_ids
from neardup.kernels.common.hashing import mix_words
from neardup.passages.document_pairs import HiddenText, Visible
from neardup.passages.documents import NO_RUNS
from neardup.passages.matches import union_lengths
from neardup.reports.differences import find_moved
from neardup.reports.page import shortened, written
from neardup.runs.exchange import Shuffle, SpilledBatches
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.tables import Bools, Floats, Int64s, Rows, Uint64s
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import make_tokenizer
from neardup.version import __version__

# How passages were found, as pages say it.

# Of a job's summary, as pages call them.
_OPTIONS = {
    "threshold": "least similarity",
    "min_tokens": "tokens of the shortest passage",
    "gap": "tokens between two parts",
    "max_documents": "most documents that have a passage",
    "window_tokens": "tokens of the windows that are looked up",
    "window_threshold": "least similarity of a window",
    "certain_tokens": "tokens of a passage that holds a whole window",
    "predicted_recall": "probability that a shortest passage at the threshold is found",
    "predicted_recall_moved": "the same if words were moved in their sentences",
    "windows": "windows looked up",
    "frequent_windows": "windows left out, because too many documents have them",
    "ignored_tokens": "tokens taken for not written",
    "empty_documents": "documents without tokens",
    "short_documents": "documents shorter than the shortest passage",
    "empty_queries": "items without tokens",
    "short_queries": "items shorter than a passage of the index",
    "id_column": "column of the ids",
}


@dataclass(frozen=True)
class About:
    """What is known of a run beside its table.

    ``summary`` is the job's, empty where nobody has given it; ``n_documents`` how many documents
    the first collection has and, if there is one, the second; empty where they were not read.
    ``how_to_give_texts`` is what a page without texts says of them.
    """

    summary: Mapping[str, Any] = field(default_factory=dict)
    n_documents: Sequence[int] = ()
    how_to_give_texts: str = ""


def list_options(about: About) -> list[tuple[str, str]]:
    """Return what is known of a run, as names and values."""
    return [
        (shown, written(about.summary[name]))
        for name, shown in _OPTIONS.items()
        if about.summary.get(name) is not None
    ]


def notes_of(about: About) -> list[str]:
    """Say what is sure of what was found, and what may be missing."""
    recall = about.summary.get("predicted_recall")
    if recall is None:
        return []
    return [
        "Passages are found by looking up windows of one text among those of the others, so one "
        "that is just similar enough can be missed: a shortest one at the threshold is found with "
        f"probability {recall:.4f}, a longer or more similar one with a greater. Everything that "
        "is shown was verified: its similarity is the true one of the two whole passages."
    ]


def how_it_was_made() -> str:
    """Return what stands at the end of a page."""
    return f"Made by neardup {__version__}. This page is complete in itself; it loads nothing."


@dataclass(frozen=True)
class Document:
    """A document with its file, as far as that is known, and its number of characters.

    ``text`` is None where nobody has given it, or there is no room for it; ``length`` is then, at
    worst, where the last passage ends. ``place`` ascends in the order of the input.
    """

    id: str
    file: str | None
    length: int
    text: str | None = None
    place: int = 0


class Documents(Sequence[Document]):
    """Documents as columns, of which few are ever looked at alone.

    Parameters
    ----------
    ids
        Large strings.
    files
        Places in ``file_names``, -1 where a file is not known.
    file_names
        The names of files.
    lengths, places
        As of ``Document``.
    texts
        Those that are known, by the document's number.

    Notes
    -----
    Memory: 24 bytes a document, and its id.
    """

    def __init__(
        self,
        ids: pa.Array,
        files: Int64s,
        file_names: Sequence[str],
        lengths: Int64s,
        places: Int64s,
        texts: Mapping[int, str],
    ) -> None:
        self.ids, self.files, self.file_names = ids, files, file_names
        self.lengths, self.places, self.texts = lengths, places, texts
        self.are_known: Bools = np.zeros(len(ids), np.bool_)
        self.are_known[list(texts)] = True

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Documents:
        """Take documents that are there one by one."""
        names = list(dict.fromkeys(each.file for each in documents if each.file is not None))
        return cls(
            pa.array([each.id for each in documents], pa.large_string()),
            np.array([-1 if d.file is None else names.index(d.file) for d in documents], np.int64),
            names,
            np.array([each.length for each in documents], np.int64),
            np.array([each.place for each in documents], np.int64),
            {n: each.text for n, each in enumerate(documents) if each.text is not None},
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: Any) -> Any:
        """Return a document."""
        file = int(self.files[number])
        return Document(
            self.ids[number].as_py(),
            None if file < 0 else self.file_names[file],
            int(self.lengths[number]),
            self.texts.get(number),
            int(self.places[number]),
        )

    def take(self, order: Int64s) -> Documents:
        """Return the documents in another order."""
        numbers = np.empty_like(order)
        numbers[order] = np.arange(len(order))
        return Documents(
            self.ids.take(pa.array(order)),
            self.files[order],
            self.file_names,
            self.lengths[order],
            self.places[order],
            {int(numbers[number]): text for number, text in self.texts.items()},
        )

    @cached_property
    def _twice(self) -> Uint64s:
        """Hashes that several ids have."""
        hashes = np.sort(hash_ids(self.ids))
        twice: Uint64s = hashes[1:][hashes[1:] == hashes[:-1]]
        return twice

    def is_twice(self, identifier: str) -> bool:
        """Return whether several documents have an id."""
        one = np.uint64(hash_id(identifier))
        place = int(np.searchsorted(self._twice, one))
        if place == len(self._twice) or self._twice[place] != one:
            return False
        return int(pc.sum(pc.equal(self.ids, identifier)).as_py()) > 1


@dataclass(frozen=True)
class Spans(Rows):
    """Passages, a row for each: two documents by number, and places in them, ends exclusive.

    ``rows`` are their places in the table.
    """

    queries: Int64s
    query_starts: Int64s
    query_stops: Int64s
    docs: Int64s
    doc_starts: Int64s
    doc_stops: Int64s
    similarities: Floats
    rows: Int64s

    @property
    def lengths(self) -> Int64s:
        """Characters of the passages in their queries."""
        return self.query_stops - self.query_starts

    def places(self, row: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return where a passage begins and ends in its query and its document."""
        return (
            (int(self.query_starts[row]), int(self.query_stops[row])),
            (int(self.doc_starts[row]), int(self.doc_stops[row])),
        )


@dataclass(frozen=True)
class Pairs(Rows):
    """Pairs of documents that share a passage, a row for each.

    ``of_query`` and ``of_doc`` are the characters of either one that are in a passage of the pair,
    of which there are ``n_passages``.
    """

    queries: Int64s
    docs: Int64s
    of_query: Int64s
    of_doc: Int64s
    n_passages: Int64s

    @property
    def shared(self) -> Int64s:
        """Characters in passages, of the side that has more."""
        return np.maximum(self.of_query, self.of_doc)

    def ranked(self) -> Pairs:
        """Return them by what they share, those with most first; equal ones by their documents."""
        return self.take(np.lexsort((self.docs, self.queries, -self.shared)))


@dataclass(frozen=True)
class DocumentPair:
    """Two documents and what they share.

    ``spans`` are their passages in the order of places in the first; ``moved`` says which of these
    stand in another order in the second.
    """

    query: int
    doc: int
    spans: Spans
    moved: Bools


# Shares of the memory: passages or pairs that are kept there, rows that wait to be written, and
# rows of a partition, with copies of them while they are sorted. Bytes of a file.
_KEPT, _WAITING, _AT_WORK, _COPIES = 0.2, 0.2, 0.3, 5
_FILE_BYTES = 1 << 28

# Exchanges of one run have names of their own.
_numbers = count()


class StoredSpans:
    """The passages of a table, which are read some at a time and as often as they are needed.

    Parameters
    ----------
    batches
        Gives all of them in the order of the table, the same each time that it is called.
    n
        How many there are.
    workspace
        Where pairs of documents are put together.
    """

    def __init__(
        self, batches: Callable[[], Iterable[Spans]], n: int, workspace: Workspace = IN_MEMORY
    ) -> None:
        self.batches, self.n, self.workspace = batches, n, workspace

    @classmethod
    def store(cls, batches: Iterable[Spans], workspace: Workspace) -> StoredSpans:
        """Keep passages as they come, in files if they are too many: 64 bytes each."""
        kept = _keep("spans", (each.to_batch() for each in batches), workspace)
        n = sum(len(batch) for batch in kept)
        return cls(lambda: (Spans.of_batches([batch]) for batch in kept), n, workspace)

    @cached_property
    def pairs(self) -> Iterable[pa.RecordBatch]:
        """The pairs of documents, each once, as ``Pairs`` are stored."""
        return _keep("pairs", map(Pairs.to_batch, self._put_together()), self.workspace)

    def by_partition(
        self, n_partitions: int, choose: Callable[[Spans], tuple[Spans, Int64s]]
    ) -> Iterator[Spans]:
        """Yield those passages together that ``choose`` puts into a partition, in their order."""
        name = f"by-{next(_numbers)}"
        with Shuffle(
            name, self.workspace, n_partitions, in_memory=None, share=_WAITING
        ) as exchanged:
            for spans in self.batches():
                chosen, partitions = choose(spans)
                order = np.argsort(partitions, kind="stable")
                exchanged.add(chosen.take(order).to_batch(), partitions[order])
        for number in range(n_partitions):
            batches = list(exchanged.read(number))
            if batches:
                yield Spans.of_batches(batches)
        exchanged.discard()

    def passes(self, n_rows: int) -> int:
        """Return in how many parts so many passages have to be worked on."""
        return self.workspace.passes(n_rows * 8 * len(fields(Spans)) * _COPIES, _AT_WORK)

    def _put_together(self) -> Iterator[Pairs]:
        n_partitions = self.passes(self.n)

        def choose(spans: Spans) -> tuple[Spans, Int64s]:
            keys = (spans.queries * _ODD) ^ spans.docs
            mixed = mix_words(keys.view(np.uint64)) >> np.uint64(32)
            partitions = mixed * np.uint64(n_partitions) >> np.uint64(32)
            return spans, partitions.astype(np.int64)

        for spans in self.by_partition(n_partitions, choose):
            order = np.lexsort((spans.docs, spans.queries))
            queries, docs = spans.queries[order], spans.docs[order]
            is_new = np.ones(len(order), np.bool_)
            is_new[1:] = (queries[1:] != queries[:-1]) | (docs[1:] != docs[:-1])
            firsts = np.flatnonzero(is_new)
            groups: Int64s = np.empty(len(order), np.int64)
            groups[order] = np.cumsum(is_new) - 1
            n = len(firsts)
            yield Pairs(
                queries[firsts],
                docs[firsts],
                union_lengths(spans.query_starts, spans.query_stops, groups, n),
                union_lengths(spans.doc_starts, spans.doc_stops, groups, n),
                np.diff(firsts, append=len(order)),
            )


_ODD = np.int64(0x1E3779B97F4A7C15)


def _keep(name: str, batches: Iterable[pa.RecordBatch], workspace: Workspace) -> SpilledBatches:
    with SpilledBatches(
        f"{name}-{next(_numbers)}", workspace, share=_KEPT, weight_of_file=_FILE_BYTES
    ) as kept:
        for batch in batches:
            kept.append(batch, None, batch.nbytes)
    return kept


@dataclass(frozen=True)
class Passages:
    """Documents that share passages, and these.

    Parameters
    ----------
    documents
        All that are in a passage, those of the first collection first.
    stored
        The passages.
    is_one
        Whether both sides are of one collection.
    texts_of_row
        Gives the texts of a passage on both sides by its row, where the table has them.
    places_of_rows
        Gives where some passages begin on both sides, as people cite it, where the table says it.
    numbers
        What ``documents`` call those that the passages have by other numbers; None for the same.
    hidden
        Text that was ignored, and is not part of shares.

    Notes
    -----
    Held are the documents, pairs whose texts are known, and what methods return: passages of one
    pair at a time, and as many as have room in the workspace.
    """

    documents: Documents
    stored: StoredSpans
    is_one: bool
    texts_of_row: Callable[[int], tuple[str, str]] | None = None
    places_of_rows: Callable[[Int64s], list[tuple[str, str]]] | None = None
    numbers: Int64s | None = None
    hidden: HiddenText = field(
        default_factory=lambda: HiddenText(NO_RUNS, make_tokenizer("words", Normalisation()))
    )

    def __len__(self) -> int:
        return self.stored.n

    @cached_property
    def _visible(self) -> tuple[dict[int, int], Visible]:
        """Rows of the documents whose texts are known, and what of these texts counts."""
        texts = self.documents.texts
        rows = {number: row for row, number in enumerate(texts)}
        ids = self.documents.ids.take(pa.array(list(texts), pa.int64()))
        return rows, self.hidden.look_at(pa.array(texts.values(), pa.large_string()), ids)

    def measure(self, document: int, starts: Int64s, stops: Int64s) -> tuple[int, float | None]:
        """Return how many characters of a document are in some passages, and which share of it.

        Both are as ``pair_table`` has them: a text is from its first token to its last, and what
        was ignored is not part of it. Without the text all characters count, and there is no
        share.
        """
        length = None
        rows, visible = self._visible
        if document in rows:
            which = np.full(len(starts), rows[document])
            starts, stops, lengths = visible.extents(which, starts, stops).T
            length = int(lengths[0])
        shared = int(union_lengths(starts, stops, np.zeros(len(starts), np.int64), 1)[0])
        return shared, None if length is None else shared / length

    def batches(self) -> Iterator[Spans]:
        """Yield the passages in the order of the table, some at a time."""
        return map(self._renumbered, self.stored.batches())

    def _renumbered(self, spans: Spans) -> Spans:
        if self.numbers is None:
            return spans
        queries, docs = self.numbers[spans.queries], self.numbers[spans.docs]
        return replace(spans, queries=queries, docs=docs)

    def pairs(self) -> Iterator[Pairs]:
        """Yield all pairs of documents, some at a time; these by their documents."""
        for batch in self.stored.pairs:
            pairs = Pairs.of_batches([batch])
            if self.numbers is not None:
                queries, docs = self.numbers[pairs.queries], self.numbers[pairs.docs]
                order = np.lexsort((docs, queries))
                pairs = replace(pairs, queries=queries, docs=docs).take(order)
            yield pairs

    @cached_property
    def n_pairs(self) -> int:
        """How many pairs of documents there are."""
        return sum(map(len, self.stored.pairs))

    @cached_property
    def n_characters(self) -> int:
        """How many characters of all pairs are in passages, of the longer side of each."""
        return sum(int(pairs.shared.sum()) for pairs in self.pairs())

    def best(self, most: int) -> Pairs:
        """Return the pairs that share most, ranked."""
        found, least = Pairs.of_none(), -1
        for pairs in self.pairs():
            found = Pairs.joined([found, pairs.take(pairs.shared >= least)]).ranked()
            if len(found) > most:
                found = found.take(np.arange(most))
                least = int(found.shared.min(initial=1 << 62))
        return found

    def first_documents(self, sides: Sequence[str], most: int) -> list[int]:
        """Return the first documents that the ranking has on some sides, ascending."""
        # Of each document its best pair, and the side that it is on.
        best = np.empty((5, 0), np.int64)
        for pairs in self.pairs():
            parts = [best]
            for k, side in enumerate(sides):
                side_of_pair = np.full(len(pairs), k)
                documents = getattr(pairs, side)
                parts.append(
                    np.stack([documents, pairs.shared, pairs.queries, pairs.docs, side_of_pair])
                )
            both = np.concatenate(parts, axis=1)
            both = both[:, np.lexsort((both[4], both[3], both[2], -both[1]))]
            firsts = np.unique(both[0], return_index=True)[1]
            best = both[:, np.sort(firsts)[:most]]
        return sorted(best[0].tolist())

    def keys(self, rows: Spans | Pairs) -> Int64s:
        """Return a number for each pair of documents that rows are of, ascending as pairs are."""
        return rows.queries * max(len(self.documents), 1) + rows.docs

    def numbers_of(self, keys: Int64s) -> Int64s:
        """Return the numbers that some pairs have among all, which are sorted by documents."""
        numbers = np.zeros(len(keys), np.int64)
        for pairs in self.pairs():
            numbers += np.searchsorted(self.keys(pairs), keys)
        return numbers

    def describe(self, pairs: Pairs) -> Iterator[tuple[int, DocumentPair]]:
        """Yield some pairs with their places among those given, in any order."""
        order = np.argsort(self.keys(pairs))
        keys = self.keys(pairs)[order]
        n_partitions = min(self.stored.passes(int(pairs.n_passages.sum())), max(len(keys), 1))

        def choose(spans: Spans) -> tuple[Spans, Int64s]:
            chosen = self._renumbered(spans)
            own = self.keys(chosen)
            places = np.searchsorted(keys, own)
            is_it = places < len(keys)
            is_it[is_it] = keys[places[is_it]] == own[is_it]
            return chosen.take(is_it), places[is_it] * n_partitions // max(len(keys), 1)

        for spans in self.stored.by_partition(n_partitions, choose) if len(keys) else ():
            own = self.keys(spans)
            by_pair = np.lexsort((spans.doc_starts, spans.query_starts, own))
            bounds = np.flatnonzero(np.diff(own[by_pair], prepend=-1))
            for rows in np.split(by_pair, bounds[1:]):
                mine = spans.take(rows)
                columns = mine.query_starts, mine.query_stops, mine.doc_starts, mine.doc_stops
                place = int(order[np.searchsorted(keys, own[rows[0]])])
                query, doc = int(mine.queries[0]), int(mine.docs[0])
                yield place, DocumentPair(query, doc, mine, find_moved(*columns))

    def have_texts(self, spans: Spans) -> Bools:
        """Return of which passages the text is known on both sides."""
        if self.texts_of_row is not None:
            return np.ones(len(spans), np.bool_)
        known = self.documents.are_known
        both: Bools = known[spans.queries] & known[spans.docs]
        return both

    def take(self, rows: Sequence[int]) -> Spans:
        """Return some passages by their rows in the table, in this order."""
        wanted = np.unique(np.array(rows, np.int64))
        found = Spans.joined([s.take(np.isin(s.rows, wanted)) for s in self.batches()])
        return found.take(np.searchsorted(found.rows, rows))

    def texts_of(self, spans: Spans, k: int) -> tuple[str, str]:
        """Return one of some passages as it is in both texts, which are known."""
        texts = self.documents.texts
        of_query = texts.get(int(spans.queries[k]))
        of_doc = texts.get(int(spans.docs[k]))
        if of_query is None or of_doc is None:
            # Those of a table may be shortened.
            assert self.texts_of_row is not None
            return self.texts_of_row(int(spans.rows[k]))
        in_query, in_doc = spans.places(k)
        return of_query[slice(*in_query)], of_doc[slice(*in_doc)]

    def cited(self, spans: Spans) -> list[tuple[str, str]] | None:
        """Return where some passages begin on both sides; None where the table does not say."""
        return None if self.places_of_rows is None else self.places_of_rows(spans.rows)

    def where(self, spans: Spans, row: int) -> tuple[str, str]:
        """Say where one of some passages stands on both sides."""
        of_query, of_doc = (
            f"characters {start:,} to {stop:,}" for start, stop in spans.places(row)
        )
        cited = self.cited(spans.take(np.array([row])))
        if cited is None:
            return of_query, of_doc
        return f"{cited[0][0]}, {of_query}", f"{cited[0][1]}, {of_doc}"

    def name(self, number: int) -> str:
        """Return the id of a document, with its file where ids alone do not tell it apart.

        A long one without its middle.
        """
        document = self.documents[number]
        if not document.id:
            return '""'
        shown = shortened(document.id)
        if document.file and self.documents.is_twice(document.id):
            return f"{shown} in {shortened(document.file)}"
        return shown
