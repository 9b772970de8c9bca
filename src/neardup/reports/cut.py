"""The page of a cut: what texts repeated, in which files, where it went, and where it stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nsmallest
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.ids import as_text, digest_ids, hash_ids
from neardup.outputs.table_rows import TableRows
from neardup.passages.matches import group_overlapping
from neardup.reports.charts import Chart, bars, matrix
from neardup.reports.differences import Example as PairExample
from neardup.reports.differences import SideBySide, around, side_by_side
from neardup.reports.page import STYLES, Report, percent, render_page, shortened, written
from neardup.reports.passages.drawings import length_chart, similarity_chart
from neardup.reports.passages.model import About, how_it_was_made
from neardup.runs.progress import counted
from neardup.runs.totals import Totals
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.tables import Bools, Floats, Int64s, Uint64s

# What a page of a cut is made of: spans that went, each for one that stays.

MOST_GROUPS = 200
"""Repeated passages that a page lists."""

MOST_SHOWN = 20
"""Repeated passages that are shown with where they stood."""

# Rows that are shown because what went is least like what stays.
_N_LEAST = 3
# Places of a passage, and files in drawings.
_MOST_PLACES, _MOST_FILES = 30, 16

# A document: the collection, input or against, and its id there. Of what nobody has said to stay
# there is neither.
Key = tuple[str, str]
Row = Mapping[str, Any]

# In place of an id where nobody has said what stays, beside the number of the row; and what sets
# ids of the other collection apart.
_NOBODY, _OTHER = np.uint64(0x8F3A_61D2_04C7_5B9E), np.uint64(0x5C1D_93E8_B7A0_246F)


@dataclass(frozen=True)
class Group:
    """What went for one passage that stays.

    ``places`` are the first rows of the table that have it, ``files`` says how many there are in
    each file.
    """

    places: Sequence[int]
    n_copies: int
    n_documents: int
    n_characters: int
    files: Mapping[str, int]
    text: str = ""


@dataclass(frozen=True)
class _Extent:
    """A group: where what stays is, and what has gone for it.

    Groups are ordered by copies, then by characters, most first.
    """

    rank: tuple[int, int, int]
    kept: tuple[int, int]
    start: int
    stop: int


@dataclass(frozen=True)
class CutTable:
    """Spans that went, a row for each, by document; a table as a cut writes it.

    ``summary`` is that of the run, with the beginnings of what was repeated most. Rows are read
    some at a time; ``workspace`` is where what is repeated is counted. ``texts`` are those of
    documents as they came in, put there by whom has read them.
    """

    rows: TableRows
    summary: Mapping[str, Any] = field(default_factory=dict)
    workspace: Workspace = IN_MEMORY
    texts: dict[Key, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _extents(self) -> tuple[int, list[_Extent]]:
        """How many different passages were repeated, and those that were most."""
        kinds = {"n": np.add, "size": np.add, "first": np.minimum}
        n_groups, most = 0, list[_Extent]()
        with Totals("spans", self.workspace, 4, kinds, n_rows=len(self), n_together=2) as spans:
            for start, batch in self._batches("start", "end", *_KEPT):
                rows = np.arange(start, start + len(batch))
                lengths = _wholes(batch["end"]) - _wholes(batch["start"])
                places = [_wholes(batch[name]).view(np.uint64) for name in _KEPT[2:]]
                kept = _digests_of_kept(batch, rows)
                spans.add((*kept, *places), n=np.ones_like(rows), size=lengths, first=rows)
            for keys, found in spans.read():
                n_here, extents = _group(keys, found)
                n_groups += n_here
                most = nsmallest(MOST_GROUPS, [*most, *extents], key=lambda each: each.rank)
        return n_groups, most

    @property
    def n_groups(self) -> int:
        """How many different passages were repeated."""
        return self._extents[0]

    @cached_property
    def groups(self) -> list[Group]:
        """What was repeated most, by copies, then by characters."""
        _, extents = self._extents
        lookup = _Lookup(extents)
        places: list[list[int]] = [[] for _ in extents]
        files: list[Counter[str]] = [Counter() for _ in extents]
        n_documents, last = np.zeros(len(extents), np.int64), np.full(len(extents), -1)
        for batch in self._documents(*_KEPT):
            rows, numbers = lookup.find(batch.start, batch.table)
            for number in np.unique(numbers).tolist():
                mine = rows[numbers == number]
                room = _MOST_PLACES - len(places[number])
                places[number] += (batch.start + mine[:room]).tolist()
                documents = np.concatenate([[last[number]], batch.documents[mine]])
                n_documents[number] += int((np.diff(documents) != 0).sum())
                last[number] = documents[-1]
                codes, counts = np.unique(batch.files[mine], return_counts=True)
                named = (batch.file_names[code] for code in codes.tolist())
                files[number].update(dict(zip(named, counts.tolist(), strict=True)))
        listed = self.summary.get("most_repeated", [])
        found = []
        for rank, extent in enumerate(extents):
            n_copies, n_characters = -extent.rank[0], -extent.rank[1]
            said = listed[rank] if rank < len(listed) else {}
            text = str(said.get("text", "")) if said.get("copies") == n_copies else ""
            found.append(
                Group(
                    places[rank], n_copies, int(n_documents[rank]), n_characters, files[rank], text
                )
            )
        return found

    @cached_property
    def figures(self) -> _Figures:
        """What all rows are added up to."""
        least: list[tuple[float, int]] = []
        characters, documents = Counter[str](), Counter[str]()
        last, least_of_all = -1, np.inf
        for batch in self._documents("start", "end", "similarity"):
            similarities = _similarities_of(batch.table)
            known = similarities[~np.isnan(similarities)]
            least_of_all = min(least_of_all, known.min(initial=np.inf))
            low = np.flatnonzero(similarities < 1)
            low = low[np.argsort(similarities[low], kind="stable")[:_N_LEAST]]
            some = zip(similarities[low].tolist(), (batch.start + low).tolist(), strict=True)
            least = nsmallest(_N_LEAST, [*least, *some])
            lengths = _wholes(batch.table["end"]) - _wholes(batch.table["start"])
            is_first = np.diff(batch.documents, prepend=last) != 0
            last = int(batch.documents[-1])
            sums = np.zeros(len(batch.file_names), np.int64)
            np.add.at(sums, batch.files, lengths)
            n_first = np.bincount(batch.files[is_first], minlength=len(sums))
            characters.update(dict(zip(batch.file_names, sums.tolist(), strict=True)))
            documents.update(dict(zip(batch.file_names, n_first.tolist(), strict=True)))
        return _Figures(least_of_all == 1, [row for _, row in least], characters, documents)

    def lengths(self) -> Iterator[Int64s]:
        """Yield how long spans are, some at a time."""
        for _, batch in self._batches("start", "end"):
            yield _wholes(batch["end"]) - _wholes(batch["start"])

    def similarities(self) -> Iterator[Floats]:
        """Yield similarities of spans and what stays, NaN where they are not known."""
        for _, batch in self._batches("similarity"):
            yield _similarities_of(batch)

    @cached_property
    def shown(self) -> dict[int, Row]:
        """All that the table says of the rows that a page shows, by their places."""
        places = [place for group in self.groups for place in group.places[:1]]
        places += [place for group in self.groups[:MOST_SHOWN] for place in group.places]
        places += self.figures.least_alike
        rows = np.unique(np.array(places, np.int64))
        named = [name for name in _PLACES if name in self.rows.schema.names]
        table = self.rows.take(rows, *_COLUMNS, *named)
        for name in ("id", "kept_id"):
            index = table.column_names.index(name)
            table = table.set_column(index, name, as_text(table[name]))
        return dict(zip(rows.tolist(), table.to_pylist(), strict=True))

    def texts_of(self, place: int) -> tuple[str | None, str | None]:
        """Return what went, and what stays for it, as far as texts of documents are known."""
        row = self.shown[place]
        kept = kept_key(row)
        own_text = self.texts.get(own_key(row))
        kept_text = None if kept is None else self.texts.get(kept)
        return (
            own_text and own_text[slice(*_places_of(row, "start", "end"))],
            kept_text and kept_text[slice(*_places_of(row, "kept_start", "kept_end"))],
        )

    @property
    def keeps_none(self) -> bool:
        """Whether all copies went, so that a copy is named that went, too."""
        return self.summary.get("keep") == "none"

    def _batches(self, *names: str) -> Iterator[tuple[int, pa.Table]]:
        start, is_of_copies = 0, self.keeps_none and "kept_id" in names
        if is_of_copies:
            names = tuple(dict.fromkeys((*names, "id", "start", "end")))
        for batch in self.rows.batches(*names):
            yield start, self._named_by_first(batch) if is_of_copies else batch
            start += len(batch)

    def _named_by_first(self, batch: pa.Table) -> pa.Table:
        """Let the first of several copies name itself, as all others do, so that they are one."""
        known, numbers = self._document_numbers
        own, kept = (
            numbers[np.minimum(np.searchsorted(known, _digests_of(batch[name])), len(known) - 1)]
            for name in ("id", "kept_id")
        )
        starts, kept_starts = _wholes(batch["start"]), _wholes(batch["kept_start"])
        is_first = pa.array((own < kept) | ((own == kept) & (starts < kept_starts)))
        for name in ("id", "start", "end"):
            place = batch.column_names.index(f"kept_{name}")
            named = pc.if_else(is_first, batch[name], batch[place].cast(batch[name].type))
            batch = batch.set_column(place, f"kept_{name}", named)
        return batch

    @cached_property
    def _document_numbers(self) -> tuple[Uint64s, Int64s]:
        """Ids of documents that lost something, as digests that ascend, and their places."""
        found = [_digests_of(batch["id"]) for batch in self.rows.batches("id")]
        return np.unique(np.concatenate([np.empty(0, np.uint64), *found]), return_index=True)

    def _documents(self, *names: str) -> Iterator[_Batch]:
        """Yield rows with the numbers of their documents, and their files."""
        document, last = -1, (None, 0)
        for start, batch in self._batches("file", "row", *names):
            if not len(batch):
                continue
            encoded = batch["file"].combine_chunks().dictionary_encode()
            file_names: list[str] = encoded.dictionary.to_pylist()
            files: Int64s = encoded.indices.to_numpy().astype(np.int64)
            rows = batch["row"].to_numpy()
            is_first = np.ones(len(batch), np.bool_)
            is_first[1:] = (np.diff(files) != 0) | (np.diff(rows) != 0)
            is_first[0] = (file_names[files[0]], int(rows[0])) != last
            documents: Int64s = document + np.cumsum(is_first)
            document, last = int(documents[-1]), (file_names[files[-1]], int(rows[-1]))
            yield _Batch(start, batch, documents, files, file_names)


def own_key(row: Row) -> Key:
    """Return the document that a row is of."""
    return "input", row["id"]


def kept_key(row: Row) -> Key | None:
    """Return the document that has what stays, if anybody has said it."""
    if row["kept_id"] is None:
        return None
    return "input" if row["kept_in"] == "input" else "against", row["kept_id"]


def _places_of(row: Row, start: str, stop: str) -> tuple[int, int]:
    return row[start] or 0, row[stop] or 0


_COLUMNS = (
    *("id", "start", "end", "kept_id", "kept_start", "kept_end"),
    *("similarity", "file", "row", "kept_in"),
)
_KEPT = ("kept_id", "kept_in", "kept_start", "kept_end")
# Where spans begin, which a table of documents of several files says.
_PLACES = ("place", "kept_place")


@dataclass(frozen=True)
class _Batch:
    """Rows from ``start`` on; numbers of their documents, and of their files among the names."""

    start: int
    table: pa.Table
    documents: Int64s
    files: Int64s
    file_names: Sequence[str]


@dataclass(frozen=True)
class _Figures:
    """Whether all that went is equal to what stays, as far as is known; rows where it is least.

    ``characters`` that went, and ``documents`` that lost some, by file.
    """

    all_equal: bool
    least_alike: Sequence[int]
    characters: Mapping[str, int]
    documents: Mapping[str, int]


def _wholes(column: pa.ChunkedArray) -> Int64s:
    """Return whole numbers, 0 where they are not known."""
    values: Int64s = pc.fill_null(column.cast(pa.int64()), 0).to_numpy()
    return values


def _similarities_of(batch: pa.Table) -> Floats:
    values: Floats = batch["similarity"].cast(pa.float64()).fill_null(np.nan).to_numpy()
    return values


def _kept_of(batch: pa.Table) -> tuple[pa.Array, Bools, Bools]:
    """Return ids of documents with what stays, which are known, and which are of the input."""
    ids = as_text(batch["kept_id"].combine_chunks())
    is_own = pc.fill_null(pc.equal(batch["kept_in"].combine_chunks(), "input"), False)
    is_known = ids.is_valid()
    return pc.fill_null(ids, ""), *(
        each.to_numpy(zero_copy_only=False) for each in (is_known, is_own)
    )


def _digests_of_kept(batch: pa.Table, rows: Int64s) -> tuple[Uint64s, Uint64s]:
    """Return 128 bits for the document that has what stays; each row has others of nobody's."""
    ids, is_known, is_own = _kept_of(batch)
    first, second = digest_ids(ids)
    second = np.where(is_own, second, second ^ _OTHER)
    return np.where(is_known, first, rows.view(np.uint64)), np.where(is_known, second, _NOBODY)


def _digests_of(ids: pa.ChunkedArray) -> Uint64s:
    """Return 64 bits for each of some ids."""
    return hash_ids(pc.fill_null(as_text(ids.combine_chunks()), ""))


def _group(keys: Sequence[Uint64s], found: Mapping[str, Int64s]) -> tuple[int, list[_Extent]]:
    """Put places together that overlap; returns how many there are, and those with most."""
    first, second = keys[:2]
    starts, stops = (column.view(np.int64) for column in keys[2:])
    order = np.lexsort((second, first))
    is_new = (np.diff(first[order], prepend=0) != 0) | (np.diff(second[order], prepend=0) != 0)
    documents: Int64s = np.empty(len(order), np.int64)
    documents[order] = np.cumsum(is_new)
    groups = group_overlapping(documents, starts, stops)
    n = int(groups.max(initial=-1)) + 1
    counts, sizes = np.zeros(n, np.int64), np.zeros(n, np.int64)
    np.add.at(counts, groups, found["n"])
    np.add.at(sizes, groups, found["size"])
    first_rows, begins = (np.full(n, np.iinfo(np.int64).max) for _ in range(2))
    ends = np.zeros(n, np.int64)
    np.minimum.at(first_rows, groups, found["first"])
    np.minimum.at(begins, groups, starts)
    np.maximum.at(ends, groups, stops)
    members: Int64s = np.empty(n, np.int64)
    members[groups] = np.arange(len(groups))
    most = np.lexsort((first_rows, -sizes, -counts))[:MOST_GROUPS]
    return n, [
        _Extent(
            (-int(counts[each]), -int(sizes[each]), int(first_rows[each])),
            (int(first[members[each]]), int(second[members[each]])),
            int(begins[each]),
            int(ends[each]),
        )
        for each in most.tolist()
    ]


class _Lookup:
    """Finds the rows of some groups, by what stays for them."""

    def __init__(self, extents: Sequence[_Extent]) -> None:
        self._firsts = np.array(sorted({each.kept[0] for each in extents}), np.uint64)
        self._documents = np.array(
            sorted({each.kept[0] ^ each.kept[1] for each in extents}), np.uint64
        )
        kept = np.array([each.kept for each in extents], np.uint64).reshape(-1, 2)
        places = self._place(kept[:, 0], kept[:, 1], np.array([e.start for e in extents], np.int64))
        # Groups of one document follow each other and have no place in common.
        self._order = np.argsort(places)
        self._places, self._kept = places[self._order], kept[self._order]
        self._stops = np.array([each.stop for each in extents], np.int64)[self._order]

    def find(self, start: int, batch: pa.Table) -> tuple[Int64s, Int64s]:
        """Return those rows of a batch, whose first row is at a place, and their groups."""
        ids, is_known, _ = _kept_of(batch)
        may_be = np.flatnonzero(~is_known | np.isin(hash_ids(ids), self._firsts))
        some = batch.take(pa.array(may_be))
        first, second = _digests_of_kept(some, start + may_be)
        starts = _wholes(some["kept_start"])
        found = np.searchsorted(self._places, self._place(first, second, starts), "right") - 1
        is_it = (found >= 0) & (self._kept[found] == np.stack([first, second], axis=1)).all(axis=1)
        is_it &= (starts < self._stops[found]) | (second == _NOBODY)
        return may_be[is_it], self._order[found[is_it]]

    def _place(self, first: Uint64s, second: Uint64s, starts: Int64s) -> Int64s:
        documents = np.searchsorted(self._documents, first ^ second)
        return (documents.astype(np.int64) << _MOST_BITS) | starts


# Bits of a place in a text.
_MOST_BITS = 48


# Characters of a passage and around one.
_EXCERPT, _MOST_CHARACTERS, _AROUND = 100, 4000, 200

_OPTIONS = {
    "unit": "what goes",
    "exact": "only what is equal",
    "threshold": "least similarity",
    "min_tokens": "tokens of the shortest thing that goes",
    "min_documents": "documents that must have it",
    "keep": "whose copy stays",
    "replacement": "what is put in its place",
    "predicted_recall": "probability that something similar at the threshold is found",
    "against_documents": "documents it was cut against",
    "skipped_rows": "rows that could not be read",
}


@dataclass(frozen=True)
class Example:
    """A span that went beside what stays for it; ``before`` and ``after`` stood around it."""

    title: str
    note: str
    name_a: str
    name_b: str
    before: str
    after: str
    differences: SideBySide

    @property
    def as_pair(self) -> PairExample:
        """The span and what stays for it, without the text around."""
        return PairExample(
            self.title, self.note, self.name_a, self.name_b, "", "", self.differences
        )


@dataclass(frozen=True)
class Repeated:
    """What was repeated: how often, its text as far as it is known, where it stays and stood."""

    text: str
    note: str
    rows: Sequence[Sequence[str]]
    more: str


def wanted_rows(table: CutTable) -> list[int]:
    """Return the rows whose texts the page shows, by how much they are wanted."""
    rows = [group.places[0] for group in table.groups[:MOST_SHOWN]]
    return list(dict.fromkeys([*rows, *table.figures.least_alike]))


def cut_report(table: CutTable, how_to_give_texts: str) -> Report:
    """Make the page of what was cut out of texts."""
    summary = table.summary
    about = About(summary)
    headline = "Nothing was repeated, and nothing was cut"
    if len(table):
        documents = f"{summary['documents_cut']:,} of {summary['documents_in']:,} documents"
        headline = f"{counted(len(table), 'span')} cut out of {documents}"
    groups = table.groups
    examples = _examples(table)
    is_equal = summary.get("exact") or not len(table) or table.figures.all_equal
    charts = [
        None
        if is_equal
        else similarity_chart(
            table.similarities(),
            about,
            "Similarities",
            "How alike what went is to what stays for it: 1 is equal, word for word.",
            "spans",
        ),
        length_chart(table.lengths()),
    ]
    options = [
        (shown, written(summary[name]))
        for name, shown in _OPTIONS.items()
        if summary.get(name) not in (None, "", 0)
    ]
    html = render_page(
        "cut.html",
        title=headline,
        contents=[
            ("repeated", "Repeated most"),
            ("files", "By file"),
            ("examples", "Before and after", examples),
            ("figures", "How long", any(charts)),
            ("how", "How it was found", options),
        ],
        styles=[*STYLES, "passages.css"],
        kind="repeated text cut out",
        sentences=_sentences(table),
        facts=[
            (f"{summary['documents_in']:,}", "documents, all of which stay", "kept"),
            (f"{summary['documents_cut']:,}", "documents that lost something", "gone"),
            (f"{len(table):,}", "spans that went"),
            (f"{table.n_groups:,}", "different passages that they repeat"),
            (f"{summary['characters_removed']:,}", "characters that went"),
        ],
        listed=[_listed(table, group) for group in groups],
        keeps_none=table.keeps_none,
        n_groups=table.n_groups,
        repeated=[_repeated(table, group) for group in groups[:MOST_SHOWN]],
        files=[_by_file(table), _groups_by_file(table)],
        examples=examples,
        how_to_give_texts="" if examples or not len(table) else how_to_give_texts,
        charts=charts,
        options=options,
        foot=how_it_was_made(),
    )
    return Report(html, headline, examples=[each.as_pair for each in examples])


def _sentences(table: CutTable) -> list[str]:
    summary = table.summary
    if not len(table):
        return ["All texts came out as they went in."]
    unit = {
        "paragraphs": "paragraphs",
        "lines": "lines",
        "sentences": "three sentences in a row",
    }.get(str(summary.get("unit")), "passages")
    alike = "word for word" if summary.get("exact") else "word for word or nearly so"
    stays = "documents that it was cut against" if summary.get("against_documents") else "documents"
    what = (
        f"What went are {unit} that other {stays} have, {alike}: "
        f"{summary['characters_removed']:,} characters in all. One copy of each stays, in the "
        "document that the tables below name."
    )
    if table.keeps_none:
        what = (
            f"What went are {unit} that are there several times, {alike}, and all of their copies: "
            f"{summary['characters_removed']:,} characters in all."
        )
    checked = (
        "Each span was compared with the one that is named for it. Documents stay, with "
        "nothing but their texts changed; what is in the folder kept is the collection without the "
        "repeats."
    )
    return [what, checked]


def _text_of(table: CutTable, group: Group) -> str:
    return table.texts_of(group.places[0])[0] or group.text


def _listed(table: CutTable, group: Group) -> tuple[str, ...]:
    kept = kept_key(table.shown[group.places[0]])
    return (
        f"{group.n_copies:,}",
        f"{group.n_documents:,}",
        f"{len(group.files):,}",
        f"{group.n_characters:,}",
        "" if kept is None else _named(kept),
        _excerpt(_text_of(table, group), _EXCERPT),
    )


def _excerpt(text: str, most: int) -> str:
    """Return the beginning of a text, in one line and in quotes; nothing of an empty one."""
    line = " ".join(text[: 4 * most].split())
    if not line:
        return ""
    return f"“{line[:most]}{'…' if len(line) > most else ''}” "


def _named(key: Key) -> str:
    return shortened(key[1]) or '""'


def _characters_of(row: Row, side: str = "") -> str:
    """Say where a span is, or with ``kept_`` the one that stays for it."""
    start, stop = _places_of(row, f"{side}start", f"{side}end")
    place = row.get(f"{side}place")
    return f"{f'{place}, ' if place else ''}characters {start:,} to {stop:,}"


def _repeated(table: CutTable, group: Group) -> Repeated:
    first = table.shown[group.places[0]]
    text, kept, stays = _text_of(table, group), kept_key(first), ""
    if kept is not None:
        where = "was also in" if table.keeps_none else "stays in"
        stays = f"; {where} {_named(kept)}, {_characters_of(first, 'kept_')}"
    rows = []
    for row in (table.shown[place] for place in group.places):
        rows.append(
            (
                shortened(row["id"]),
                ", ".join(filter(None, (row["file"], row.get("place")))),
                f"{row['row']:,}",
                f"{row['start']:,} to {row['end']:,}",
                "" if row["similarity"] is None else f"{row['similarity']:.4f}",
            )
        )
    left = group.n_copies - len(rows)
    return Repeated(
        text[:_MOST_CHARACTERS],
        f"{_excerpt(text, 60)}{group.n_copies:,} copies in {group.n_documents:,} documents{stays}",
        rows,
        f"and {left:,} more; removed.parquet has all of them" if left else "",
    )


def _by_file(table: CutTable) -> Chart | None:
    """Draw how many characters went out of which files."""
    totals, documents = table.figures.characters, table.figures.documents
    if not totals:
        return None
    ranked = sorted(totals, key=lambda file: (-totals[file], file))
    all_of_them = sum(totals.values())
    more = len(ranked) - _MOST_FILES
    rest = f" {more:,} more files lost less." if more > 0 else ""
    largest = ranked[0]
    return bars(
        "by-file",
        "Characters cut, by file",
        f"Most went out of {shortened(largest, 40)}: {percent(totals[largest] / all_of_them)} "
        f"of all, from {documents[largest]:,} documents. Text that overlaps counts as often "
        f"as it was found.{rest}",
        ("characters",),
        [(file, (totals[file],)) for file in ranked[:_MOST_FILES]],
        kinds=("gone",),
        head="file",
    )


def _groups_by_file(table: CutTable) -> Chart | None:
    """Draw which files had what was repeated most."""
    groups = table.groups[:MOST_SHOWN]
    cells = [group.files for group in groups]
    counts: Counter[str] = Counter()
    for cell in cells:
        counts.update(cell)
    if len(counts) < 2:
        return None
    files = sorted(sorted(counts, key=lambda file: (-counts[file], file))[:_MOST_FILES])
    texts = [" ".join(_text_of(table, group)[:200].split()) for group in groups]
    return matrix(
        "groups-by-file",
        "What was repeated most, by file",
        "Each row is one of the passages that were repeated most, each column a file; the darker, "
        "the more copies went out of it.",
        [f"{k}. {text[:40]}" for k, text in enumerate(texts, 1)],
        files,
        [[cell.get(file, 0) for file in files] for cell in cells],
        row_title="passage",
        column_title="file",
    )


def _examples(table: CutTable) -> list[Example]:
    """Show the least alike, and one of each of what was repeated most, where texts are known."""
    titles = dict.fromkeys(table.figures.least_alike, "Among the least alike")
    for rank, group in enumerate(table.groups[:5], 1):
        titles.setdefault(group.places[0], f"Repeated most, number {rank}")
    return [
        _example(table, place, title)
        for place, title in titles.items()
        if None not in table.texts_of(place)
    ]


def _example(table: CutTable, place: int, title: str) -> Example:
    row = table.shown[place]
    kept = kept_key(row)
    assert kept is not None
    start, stop = _places_of(row, "start", "end")
    return Example(
        title,
        "" if row["similarity"] is None else f"similarity {row['similarity']:.4f}",
        f"{_named(own_key(row))}, {_characters_of(row)}",
        f"{_named(kept)}, {_characters_of(row, 'kept_')}",
        *around(table.texts[own_key(row)], start, stop, _AROUND),
        side_by_side(*((text or "")[:_MOST_CHARACTERS] for text in table.texts_of(place))),
    )
