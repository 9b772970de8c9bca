"""The page of a search: which test items are where, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from markupsafe import Markup

from neardup.reports.charts import Chart, bars
from neardup.reports.differences import SideBySide, around, side_by_side
from neardup.reports.page import STYLES, Report, counted, percent, render_page
from neardup.reports.passages.drawings import similarity_chart
from neardup.reports.passages.model import About, Passages, how_it_was_made, list_options, notes_of
from neardup.tables import Int64s

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
    rows = _by_item(passages)
    items = [_item(passages, each) for each in rows[:MOST_SHOWN] if passages.have_texts[each[0]]]
    n_items = about.n_documents[0] if about.n_documents else about.summary.get("queries")
    headline = _headline(len(rows), n_items)
    files = _files(passages)
    similarities = similarity_chart(
        [np.array([passages.spans.similarities[each[0]] for each in rows], np.float64)],
        about,
        "Similarities of the items found",
        "Of each item the best place: 1 has every word of it, in any order.",
        "items",
    )
    options = list_options(about)
    more = "" if items else about.how_to_give_texts
    if 0 < len(items) < len(rows):
        more = f"The {len(items):,} least alike are shown with their texts, of {len(rows):,}."
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
        sentences=_sentences(passages, rows, n_items),
        facts=_facts(passages, rows, n_items),
        items=items,
        listed=[_listed(passages, each) for each in rows[:MOST_LISTED]],
        more=more,
        charts=[similarities, files],
        options=options,
        notes=notes_of(about),
        foot=how_it_was_made(),
    )
    return Report(html, headline)


def _by_item(passages: Passages) -> list[list[int]]:
    """Return the rows of each item, the best first; the least alike items first.

    These are the ones that have to be looked at.
    """
    spans = passages.spans
    similarities = np.nan_to_num(spans.similarities, nan=1.0)
    order = np.lexsort((spans.doc_starts, spans.docs, -similarities, spans.queries)).tolist()
    items = [list(rows) for _, rows in groupby(order, key=lambda row: spans.queries[row])]
    return sorted(items, key=lambda rows: similarities[rows[0]])


def _headline(n_found: int, n_items: int | None) -> str:
    if not n_found:
        return "No test item was found"
    if n_items is None:
        return counted(n_found, "test item was found", "test items were found")
    return f"{n_found:,} of {n_items:,} test items {'was' if n_found == 1 else 'were'} found"


def _sentences(passages: Passages, rows: Sequence[Sequence[int]], n_items: int | None) -> list[str]:
    if not rows:
        return [
            "None of the items stands in the corpus as a whole, in the same words or nearly so. "
            "Items in other words, and parts of items, are not looked for by a search."
        ]
    n_documents = len(np.unique(passages.spans.docs))
    share = f" ({percent(len(rows) / n_items)})" if n_items else ""
    found = (
        f"{len(rows):,} items{share} stand in {counted(n_documents, 'document')} of the corpus, as "
        "a whole and in the same words or nearly so."
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


def _facts(
    passages: Passages, rows: Sequence[Sequence[int]], n_items: int | None
) -> list[tuple[str, ...]]:
    best = [float(passages.spans.similarities[each[0]]) for each in rows]
    facts: list[tuple[str, ...]] = [(f"{len(rows):,}", "items found", "gone")]
    if n_items is not None:
        facts.append((f"{max(n_items - len(rows), 0):,}", "items not found", "kept"))
    facts.append((f"{sum(each == 1 for each in best):,}", "found with all their words"))
    facts.append((f"{len(np.unique(passages.spans.docs)):,}", "documents that have one"))
    return facts


def _files(passages: Passages) -> Chart | None:
    """Draw how many items each file of the corpus has; those with most, if there are many."""
    spans = passages.spans
    documents = passages.documents
    files, n_queries = documents.files[spans.docs], int(spans.queries.max(initial=0)) + 1
    different = np.unique(files[files >= 0] * n_queries + spans.queries[files >= 0])
    there, n_items = np.unique(different // n_queries, return_counts=True)
    named = zip(
        (documents.file_names[each] for each in there.tolist()), n_items.tolist(), strict=True
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


def _listed(passages: Passages, rows: Sequence[int]) -> tuple[str, str, str, str]:
    spans = passages.spans
    documents = list(dict.fromkeys(spans.docs[rows].tolist()))
    named = ", ".join(passages.name(each) for each in documents[:_MOST_NAMED])
    if len(documents) > _MOST_NAMED:
        named += f" and {len(documents) - _MOST_NAMED:,} more"
    item, best = passages.name(int(spans.queries[rows[0]])), _similarity(passages, rows[0])
    return item, best, f"{len(documents):,}", named


def _item(passages: Passages, rows: Sequence[int]) -> Item:
    more = len(rows) - _MOST_PLACES
    note = f"best similarity {_similarity(passages, rows[0])}"
    note += f"; {more:,} more places are not shown" if more > 0 else ""
    query = int(passages.spans.queries[rows[0]])
    return Item(
        passages.name(query),
        note,
        [_place(passages, row) for row in rows[:_MOST_PLACES] if passages.have_texts[row]],
    )


def _place(passages: Passages, row: int) -> Place:
    spans = passages.spans
    number = int(spans.docs[row])
    _, (start, stop) = spans.places(row)
    item, passage = (text[:_MOST_CHARACTERS] for text in passages.texts_of(row))
    before, after = around(passages.documents[number].text, start, stop, _AROUND)
    file = passages.documents[number].file
    note = f"{file}, " if file and file not in passages.documents[number].id else ""
    return Place(
        passages.name(number),
        f"{note}characters {start:,} to {stop:,}, similarity {_similarity(passages, row)}",
        before,
        after,
        side_by_side(item, passage, context=None),
    )


def _similarity(passages: Passages, row: int) -> str:
    similarity = float(passages.spans.similarities[row])
    return "not known" if np.isnan(similarity) else f"{similarity:.4f}"


def wanted_texts(passages: Passages) -> list[int]:
    """Return the documents of the items that are shown, in that order."""
    spans = passages.spans
    rows: Int64s = np.array(
        [row for each in _by_item(passages)[:MOST_SHOWN] for row in each[:_MOST_PLACES]], np.int64
    )
    ends = np.stack([spans.queries[rows], spans.docs[rows]], axis=1).reshape(-1)
    return list(dict.fromkeys(ends.tolist()))
