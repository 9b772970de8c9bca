"""The page of an alignment: who shares what with whom, where, and the texts side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.reports.charts import Chart
from neardup.reports.page import SCRIPTS, STYLES, Report, counted, data_block, percent, render_page
from neardup.reports.passages.drawings import (
    MOST_LISTED,
    arcs,
    length_chart,
    pair_rows,
    similarity_chart,
    strips,
    who_with_whom,
)
from neardup.reports.passages.model import About, Passages, how_it_was_made, list_options, notes_of
from neardup.reports.passages.reading import MOST_CHARACTERS, Reading, make_reading
from neardup.reports.passages.witnesses import choose_examples, gather_witnesses

# Texts in drawings: of one line, and of bars.
_MOST_DRAWN, _MOST_STRIPS = 12, 16

# Pairs in which passages that have moved are counted.
_MOST_LOOKED_AT = 1000


def passage_report(passages: Passages, about: About) -> Report:
    """Make the page of passages that documents of one or two collections share."""
    listed = passages.ranking[:MOST_LISTED].tolist()
    reading = make_reading(passages)
    headline = _headline(passages)
    drawings = _drawings(passages)
    witnesses = gather_witnesses(passages)
    examples = choose_examples(passages)
    spans = passages.spans
    charts = [
        similarity_chart(
            spans.similarities,
            about,
            "Similarities of passages",
            "Of all words that either passage has, how much both have, each word counted once or "
            "by its weight: 1 is the same words.",
            "passages",
        ),
        length_chart(spans.query_stops - spans.query_starts),
    ]
    options = list_options(about)
    least = about.summary.get("min_tokens")
    shorter = f" of {least} tokens or more" if least else ""
    has_reading = reading is not None or (len(passages.spans) > 0 and about.how_to_give_texts)
    html = render_page(
        "passages.html",
        title=headline,
        contents=[
            ("who", "Who with whom"),
            ("where", "Where in the texts", drawings),
            ("reading", "Side by side", has_reading),
            ("witnesses", "Witnesses", witnesses),
            ("examples", "To judge by", examples),
            ("figures", "How alike", any(charts)),
            ("how", "How they were found", options),
        ],
        styles=[*STYLES, "passages.css", "reading.css"],
        scripts=[*SCRIPTS, "reading.js"],
        kind="shared passages",
        sentences=list(_sentences(passages, about)),
        facts=_facts(passages),
        matrix=who_with_whom(passages, "matrix"),
        pairs=pair_rows(passages, listed),
        pairs_title="Pairs of documents"
        if len(listed) == len(passages.ranking)
        else f"The {len(listed):,} pairs that share most, of {len(passages.ranking):,}",
        reading_places=[reading.place_of(number) for number in listed] if reading else [],
        nothing=f"No two documents share a passage{shorter}. Shorter passages are found with a "
        "smaller --min-tokens, and less similar ones with a lower --threshold.",
        drawings=drawings,
        has_reading=reading is not None,
        reading_lead=_reading_lead(reading, passages) if reading else "",
        no_reading=about.how_to_give_texts if len(passages.spans) else "",
        witnesses=witnesses,
        examples=examples,
        charts=charts,
        options=options,
        notes=notes_of(about),
        foot=how_it_was_made(),
        data=data_block("reading-data", reading.data) if reading else "",
    )
    return Report(html, headline)


def _headline(passages: Passages) -> str:
    n_pairs = len(passages.ranking)
    if not n_pairs:
        return "No shared passages"
    return (
        f"{counted(len(passages.spans), 'shared passage')} in "
        f"{counted(n_pairs, 'pair')} of documents"
    )


def _sentences(passages: Passages, about: About) -> list[str]:
    where = "of one collection" if passages.is_one else "of two collections"
    if about.n_documents:
        where = " and ".join(f"{n:,}" for n in about.n_documents)
        where = f"of {where} documents" if passages.is_one else f"of two collections ({where})"
    if not len(passages.spans):
        return [f"The documents {where} were compared, and no two of them share a passage."]
    first = (
        "A passage is a stretch of text that two documents have in common. Sentences within it may "
        f"have been rewritten: {_rule(passages, about)} Among the documents {where}, "
        f"{len(passages.documents):,} share one with another."
    )
    pair = passages.pair(int(passages.ranking[0]))
    shares = [
        min(shared / max(passages.documents[each].length, 1), 1.0)
        for shared, each in zip(pair.shared, (pair.query, pair.doc), strict=True)
    ]
    query, doc = passages.name(pair.query), passages.name(pair.doc)
    most = (
        f"Most is shared by {query} and {doc}: their passages span {percent(shares[0])} of {query} "
        f"and {percent(shares[1])} of {doc}. Within these the words that only one has are marked."
    )
    return [first, most, "That texts agree says nothing about who wrote them first."]


def _rule(passages: Passages, about: About) -> str:
    """Say how alike passages are at least, and how long; what is found says it, if nobody does."""
    threshold, min_tokens = about.summary.get("threshold"), about.summary.get("min_tokens")
    if threshold is None or min_tokens is None:
        similarities = passages.spans.similarities
        known = similarities[~np.isnan(similarities)]
        if not len(known):
            return "how alike passages are the table does not say."
        return f"as a whole the least alike of those found has a similarity of {known.min():.4f}."
    return (
        f"as a whole its similarity is at least {threshold:g}. Agreements of fewer than "
        f"{min_tokens:,} words, and those less alike, are not here."
    )


def _facts(passages: Passages) -> list[tuple[str, ...]]:
    looked_at = passages.ranking[:_MOST_LOOKED_AT].tolist()
    n_moved = sum(int(passages.pair(number).moved.sum()) for number in looked_at)
    facts: list[tuple[str, ...]] = [
        (f"{len(passages.spans):,}", "passages"),
        (f"{len(passages.ranking):,}", "pairs of documents"),
        (f"{len(passages.documents):,}", "documents that share one"),
        (
            f"{int(np.maximum(*passages.shared).sum()):,}",
            "characters in passages, of the longer side",
        ),
    ]
    if n_moved:
        where = f", in the {counted(len(looked_at), 'pair')} that share most"
        is_all = len(looked_at) == len(passages.ranking)
        facts.append((f"{n_moved:,}", f"passages that have moved{'' if is_all else where}"))
    return facts


def _drawings(passages: Passages) -> list[Chart]:
    """Draw the texts that share most, in their order."""
    if not len(passages.spans):
        return []
    pairs = [passages.pair_numbers[side][passages.ranking] for side in (0, 1)]

    def first(*sides: Any, most: int) -> list[int]:
        seen = dict.fromkeys(np.stack(sides, axis=1).reshape(-1).tolist())
        return sorted(list(seen)[:most])

    title = "Passages from text to text"
    if passages.is_one:
        drawn = arcs(passages, first(*pairs, most=_MOST_DRAWN), [], "arcs", title)
    else:
        upper, lower = (first(side, most=_MOST_DRAWN) for side in pairs)
        drawn = arcs(passages, upper, lower, "arcs", title)
    texts = first(*pairs, most=_MOST_STRIPS)
    return [drawn, strips(passages, texts, "strips", "What of each text is shared")]


def _reading_lead(reading: Reading, passages: Passages) -> str:
    n, n_all = len(reading.numbers), len(passages.ranking)
    if n == n_all:
        return "Whole texts, with what they share in colour."
    return (
        f"Whole texts, with what they share in colour: the {counted(n, 'pair')} that share most "
        f"and have room in a page of {MOST_CHARACTERS // 1_000_000} million characters, "
        f"of {n_all:,}."
    )
