"""The page of a search: which test items are where, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from neardup.reports.charts import Chart, bars
from neardup.reports.differences import Example, SideBySide, around, side_by_side
from neardup.reports.page import STYLES, Report, percent, render_page
from neardup.reports.passages.drawings import similarity_chart
from neardup.reports.passages.model import (
    About,
    Passages,
    Spans,
    how_it_was_made,
    list_options,
    notes_of,
)
from neardup.runs.progress import counted
from neardup.runs.totals import Totals
from neardup.tables import Floats, Int64s

MOST_SHOWN = 200
"""Items that are shown with what stands around them."""

MOST_LISTED = 2000
"""Items that are listed with the documents that have them."""

# Documents that are named of each item; places that are shown; characters around one; files.
_MOST_NAMED, _MOST_PLACES, _AROUND = 5, 3, 200
_MOST_CHARACTERS, _MOST_FILES = 4000, 20


@dataclass(frozen=True)
class Place:
    """Where an item was found; ``before`` and ``after`` stand around it, as far as is known."""

    name: str
    note: str
    before: str
    after: str
    differences: SideBySide


@dataclass(frozen=True)
class Item:
    """A test item with some of the places where it was found."""

    name: str
    note: str
    places: Sequence[Place]


def leakage_report(passages: Passages, about: About) -> Report:
    """Make the page of items that were looked for in a corpus."""
    found = _gather(passages, MOST_LISTED)
    items = [_item(passages, each) for each in found.least[:MOST_SHOWN] if each.has_text]
    n_items = about.n_documents[0] if about.n_documents else about.summary.get("queries")
    headline = _headline(found.n, n_items)
    files = _files(passages)
    similarities = similarity_chart(
        [found.similarities],
        about,
        "Similarities of the items found",
        "Of each item the best place: 1 has every word of it, in any order.",
        "items",
    )
    options = list_options(about)
    more = "" if items else about.how_to_give_texts
    if 0 < len(items) < found.n:
        more = f"The {len(items):,} least alike are shown with their texts, of {found.n:,}."
    html = render_page(
        "leakage.html",
        title=headline,
        contents=[
            ("items", "Which items are where"),
            ("figures", "How alike, and in which files", similarities or files),
            ("how", "How they were found", options),
        ],
        styles=[*STYLES, "passages.css"],
        kind="items found in a corpus",
        sentences=_sentences(found, n_items),
        facts=_facts(found, n_items),
        items=items,
        listed=[_listed(passages, each) for each in found.least],
        more=more,
        charts=[similarities, files],
        options=options,
        notes=notes_of(about),
        foot=how_it_was_made(),
    )
    examples = [
        Example(each.note, place.note, each.name, place.name, "", "", place.differences)
        for each in items
        for place in each.places[:1]
    ]
    return Report(html, headline, examples=examples)


@dataclass(frozen=True)
class _Found:
    """Where an item was found: the best places and documents, and how many there are.

    ``places`` are passages, the best first, as many as are shown of one item, and ``documents`` as
    many as are named.
    """

    places: Spans
    documents: Sequence[int]
    n_places: int
    n_documents: int
    has_text: bool


@dataclass(frozen=True)
class _Items:
    """All items that were found.

    ``least`` has those that are listed, the least alike first, because these are the ones that have
    to be looked at. ``similarities`` are those of the best places of
    all, NaN where not known.
    """

    n: int
    n_documents: int
    n_whole: int
    least: Sequence[_Found]
    similarities: Floats


def _gather(passages: Passages, most: int) -> _Items:
    """Put the passages of each item together, and choose the items that are least alike."""
    # By the numbers of all documents, of which items are some.
    best = np.full(len(passages.documents), -np.inf)
    known = np.full(len(passages.documents), -np.inf)
    is_doc = np.zeros(len(passages.documents), np.bool_)
    for spans in passages.batches():
        np.maximum.at(best, spans.queries, np.nan_to_num(spans.similarities, nan=1.0))
        is_known = ~np.isnan(spans.similarities)
        np.maximum.at(known, spans.queries[is_known], spans.similarities[is_known])
        is_doc[spans.docs] = True
    items = np.flatnonzero(best > -np.inf)
    of_items = np.where(known[items] == best[items], best[items], np.nan)
    chosen: Int64s = np.sort(order := items[np.argsort(best[items], kind="stable")[:most]])
    # Of each of these the best places, and the best place in each of the best documents.
    rows = Spans.of_none()
    n_places = np.zeros(len(chosen), np.int64)
    with Totals(
        "items", passages.stored.workspace, 2, {"n": np.add}, n_rows=len(passages)
    ) as documents:
        for spans in passages.batches():
            here = spans.take(np.isin(spans.queries, chosen))
            numbers = np.searchsorted(chosen, here.queries)
            n_places += np.bincount(numbers, minlength=len(chosen))
            keys = numbers.astype(np.uint64), here.docs.astype(np.uint64)
            documents.add(keys, n=np.ones(len(here), np.int64))
            rows = _best_of(Spans.joined([rows, here]))
    n_documents = np.zeros(len(chosen), np.int64)
    for (of_pairs, _), _ in documents.read():
        n_documents += np.bincount(of_pairs.astype(np.int64), minlength=len(chosen))
    bounds = np.searchsorted(rows.queries, [chosen, chosen + 1])
    have_texts = passages.have_texts(rows)
    least = []
    for place in np.searchsorted(chosen, order).tolist():
        first, last = bounds[:, place].tolist()
        named = list(dict.fromkeys(rows.docs[first:last].tolist()))[:_MOST_NAMED]
        places = rows.take(np.arange(first, min(first + _MOST_PLACES, last)))
        counts = int(n_places[place]), int(n_documents[place])
        least.append(_Found(places, named, *counts, bool(have_texts[first])))
    n_whole = int((of_items == 1).sum())
    return _Items(len(items), int(is_doc.sum()), n_whole, least, of_items)


def _best_of(spans: Spans) -> Spans:
    """Return the best passages of each query, as far as they are shown or name a document."""
    similarities = np.nan_to_num(spans.similarities, nan=1.0)
    spans = spans.take(
        np.lexsort((spans.rows, spans.doc_starts, spans.docs, -similarities, spans.queries))
    )
    is_first = _ranks(spans.queries) < _MOST_PLACES
    # The first row of each document, ranked among those of its query.
    by_document = np.lexsort((np.arange(len(spans)), spans.docs, spans.queries))
    queries, docs = spans.queries[by_document], spans.docs[by_document]
    is_new = np.ones(len(spans), np.bool_)
    is_new[1:] = (queries[1:] != queries[:-1]) | (docs[1:] != docs[:-1])
    firsts = np.sort(by_document[is_new])
    is_first[firsts[_ranks(spans.queries[firsts]) < _MOST_NAMED]] = True
    return spans.take(is_first)


def _ranks(groups: Int64s) -> Int64s:
    """Return how many rows before each one are of its group, of groups one behind the other."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    lengths = np.diff(starts, append=len(groups))
    ranks: Int64s = np.arange(len(groups)) - np.repeat(starts, lengths)
    return ranks


def _headline(n_found: int, n_items: int | None) -> str:
    if not n_found:
        return "No test item was found"
    if n_items is None:
        return counted(n_found, "test item was found", "test items were found")
    return f"{n_found:,} of {n_items:,} test items {'was' if n_found == 1 else 'were'} found"


def _sentences(items: _Items, n_items: int | None) -> list[str]:
    if not items.n:
        return [
            "None of the items stands in the corpus as a whole, in the same words or nearly so. "
            "Items in other words, and parts of items, are not looked for by a search."
        ]
    share = f" ({percent(items.n / n_items)})" if n_items else ""
    found = (
        f"{items.n:,} items{share} stand in {counted(items.n_documents, 'document')} of the "
        "corpus, as a whole and in the same words or nearly so."
    )
    return [
        found,
        "Read the least alike first: below them lies what was not reported. Items of one template, "
        "which differ in names and numbers, are the usual false alarm.",
        Markup(
            "To leave these documents out, give the table of the search to "
            "<code>neardup drop --named-in</code>."
        ),
    ]


def _facts(items: _Items, n_items: int | None) -> list[tuple[str, ...]]:
    facts: list[tuple[str, ...]] = [(f"{items.n:,}", "items found", "gone")]
    if n_items is not None:
        facts.append((f"{max(n_items - items.n, 0):,}", "items not found", "kept"))
    facts.append((f"{items.n_whole:,}", "found with all their words"))
    facts.append((f"{items.n_documents:,}", "documents that have one"))
    return facts


def _files(passages: Passages) -> Chart | None:
    """Draw how many items each file of the corpus has; those with most, if there are many."""
    documents = passages.documents
    n_items = np.zeros(len(documents.file_names), np.int64)
    with Totals(
        "files", passages.stored.workspace, 2, {"n": np.add}, n_rows=len(passages)
    ) as different:
        for spans in passages.batches():
            files = documents.files[spans.docs]
            rows = np.flatnonzero(files >= 0)
            keys = [key[rows].astype(np.uint64) for key in (files, spans.queries)]
            different.add(keys, n=np.ones(len(rows), np.int64))
    for (of_items, _), _ in different.read():
        n_items += np.bincount(of_items.astype(np.int64), minlength=len(n_items))
    there = np.flatnonzero(n_items)
    named = zip(
        (documents.file_names[each] for each in there.tolist()),
        n_items[there].tolist(),
        strict=True,
    )
    counts = [(file, n) for file, n in named if file]
    if not counts:
        return None
    counts.sort(key=lambda each: (-each[1], each[0]))
    title = "Items by file of the corpus"
    if len(counts) > _MOST_FILES:
        title = f"Items by file: the {_MOST_FILES} of {len(counts):,} files that have most"
    return bars(
        "files",
        title,
        "How many different items are in documents of each file.",
        ("items",),
        [(file, (n,)) for file, n in counts[:_MOST_FILES]],
        kinds=("gone",),
        head="file",
    )


def _listed(passages: Passages, found: _Found) -> tuple[str, str, str, str]:
    named = ", ".join(map(passages.name, found.documents))
    if found.n_documents > _MOST_NAMED:
        named += f" and {found.n_documents - _MOST_NAMED:,} more"
    item = passages.name(int(found.places.queries[0]))
    return item, _similarity(found.places, 0), f"{found.n_documents:,}", named


def _item(passages: Passages, found: _Found) -> Item:
    more = found.n_places - _MOST_PLACES
    note = f"best similarity {_similarity(found.places, 0)}"
    note += f"; {more:,} more places are not shown" if more > 0 else ""
    known = np.flatnonzero(passages.have_texts(found.places)).tolist()
    return Item(
        passages.name(int(found.places.queries[0])),
        note,
        [_place(passages, found.places, row) for row in known],
    )


def _place(passages: Passages, spans: Spans, row: int) -> Place:
    number = int(spans.docs[row])
    _, (start, stop) = spans.places(row)
    item, passage = (text[:_MOST_CHARACTERS] for text in passages.texts_of(spans, row))
    before, after = around(passages.documents[number].text, start, stop, _AROUND)
    file = passages.documents[number].file
    note = f"{file}, " if file and file not in passages.documents[number].id else ""
    return Place(
        passages.name(number),
        f"{note}{passages.where(spans, row)[1]}, similarity {_similarity(spans, row)}",
        before,
        after,
        side_by_side(item, passage, context=None),
    )


def _similarity(spans: Spans, row: int) -> str:
    similarity = float(spans.similarities[row])
    return "not known" if np.isnan(similarity) else f"{similarity:.4f}"


def wanted_texts(passages: Passages) -> list[int]:
    """Return the documents of the items that are shown, in that order."""
    rows = Spans.joined([each.places for each in _gather(passages, MOST_SHOWN).least])
    ends = np.stack([rows.queries, rows.docs], axis=1).reshape(-1)
    return list(dict.fromkeys(ends.tolist()))
