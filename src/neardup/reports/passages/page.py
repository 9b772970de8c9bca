"""The page of an alignment: who shares what with whom, where, and the texts side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from neardup.outputs.ranking import Ranking
from neardup.reports.differences import Example, side_by_side
from neardup.reports.page import SCRIPTS, STYLES, Report, data_block, percent, render_page
from neardup.reports.passages.drawings import (
    MOST_LISTED,
    Looked,
    length_chart,
    pair_rows,
    similarity_chart,
    who_with_whom,
)
from neardup.reports.passages.listing import make_listing
from neardup.reports.passages.model import (
    About,
    Pairs,
    Passages,
    Spans,
    how_it_was_made,
    list_options,
    notes_of,
)
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s


def choose_examples(passages: Passages, moved: int | None = None) -> list[Example]:
    """Choose passages whose texts are known; each comes once.

    ``moved`` is the row of one that has moved, None if there is none.
    """
    n, longest, most = 0, -1, -1
    for spans in passages.batches():
        known = spans.take(passages.have_texts(spans))
        n += len(known)
        if len(known) and int(known.lengths.max()) > most:
            most = int(known.lengths.max())
            longest = int(known.rows[int(np.argmax(known.lengths))])
    if not n:
        return []

    def likeness() -> Iterator[tuple[Int64s, Floats]]:
        for spans in passages.batches():
            is_known = passages.have_texts(spans)
            yield spans.rows[is_known], -np.nan_to_num(spans.similarities[is_known], nan=1.0)

    least, middle = Ranking(likeness).rows([range(min(n, 2)), range(n // 2, n // 2 + 1)])
    chosen = {int(least[0]): "The least alike"}
    if n > 1:
        chosen.setdefault(int(least[1]), "The second least alike")
    chosen.setdefault(int(middle[0]), "One from the middle")
    if moved is not None:
        chosen.setdefault(moved, "The longest that has moved")
    chosen.setdefault(longest, "The longest")
    shown = passages.take(list(chosen))
    return [_example(passages, shown, k, title) for k, title in enumerate(chosen.values())]


def _example(passages: Passages, spans: Spans, row: int, title: str) -> Example:
    text_a, text_b = (text[:_MOST_OF_EXAMPLE] for text in passages.texts_of(spans, row))
    differences = side_by_side(text_a, text_b)
    similarity = float(spans.similarities[row])
    note = "" if np.isnan(similarity) else f"similarity {similarity:.4f}, "
    note += f"{counted(differences.n_common, 'word')} in both"
    return Example(
        title,
        note,
        passages.name(int(spans.queries[row])),
        passages.name(int(spans.docs[row])),
        *passages.where(spans, row),
        differences,
    )


# Characters of a passage that is shown as an example.
_MOST_OF_EXAMPLE = 20_000

# Pairs in which passages that have moved are counted, and in which one of them is looked for.
_MOST_LOOKED_AT, _MOST_WITH_EXAMPLE = 1000, 100


def _look(passages: Passages, pairs: Pairs) -> tuple[list[Looked], int | None]:
    """Count what has moved in some pairs; returns the row of the longest in the first ones, too."""
    looked_at = [Looked(0, 0, ((0, None), (0, None)))] * len(pairs)
    best: tuple[int, int] | None = None
    for k, pair in passages.describe(pairs):
        spans = pair.spans
        shared = (
            passages.measure(pair.query, spans.query_starts, spans.query_stops),
            passages.measure(pair.doc, spans.doc_starts, spans.doc_stops),
        )
        looked_at[k] = Looked(len(spans), int(pair.moved.sum()), shared)
        if k >= _MOST_WITH_EXAMPLE:
            continue
        moved = spans.take(pair.moved & passages.have_texts(spans))
        if len(moved):
            first = np.lexsort((moved.rows, -moved.lengths))[0]
            one = -int(moved.lengths[first]), int(moved.rows[first])
            best = one if best is None else min(best, one)
    return looked_at, None if best is None else best[1]


def passage_report(passages: Passages, about: About) -> Report:
    """Make the page of passages that documents of one or two collections share."""
    ranked = passages.best(max(_MOST_LOOKED_AT, MOST_LISTED))
    looked_at, moved = _look(passages, ranked)
    listed = ranked.take(np.arange(min(MOST_LISTED, len(ranked))))
    listing = make_listing(passages)
    headline = _headline(passages)
    examples = choose_examples(passages, moved)
    charts = [
        similarity_chart(
            (spans.similarities for spans in passages.batches()),
            about,
            "Similarities of passages",
            "Of all words that either passage has, how much both have, each word counted once or "
            "by its weight: 1 is the same words.",
            "passages",
        ),
        length_chart(spans.lengths for spans in passages.batches()),
    ]
    options = list_options(about)
    no_texts = about.how_to_give_texts if len(passages) and not examples else ""
    least = about.summary.get("min_tokens")
    shorter = f" of {least} tokens or more" if least else ""
    html = render_page(
        "passages.html",
        title=headline,
        contents=[
            ("who", "Who with whom"),
            ("passages", "Every passage", listing),
            ("examples", "Side by side", examples or no_texts),
            ("figures", "How alike", any(charts)),
            ("how", "How they were found", options),
        ],
        styles=[*STYLES, "passages.css"],
        scripts=[*SCRIPTS, "listing.js"],
        kind="shared passages",
        listing=listing,
        sentences=list(_sentences(passages, ranked, looked_at, about)),
        facts=_facts(passages, looked_at[:_MOST_LOOKED_AT]),
        matrix=who_with_whom(passages, "matrix"),
        pairs=pair_rows(passages, listed, looked_at),
        pairs_title="Pairs of documents"
        if len(listed) == passages.n_pairs
        else f"The {len(listed):,} pairs that share most, of {passages.n_pairs:,}",
        nothing=f"No two documents share a passage{shorter}. Shorter passages are found with a "
        "smaller --min-tokens, and less similar ones with a lower --threshold.",
        no_texts=no_texts,
        examples=examples,
        charts=charts,
        options=options,
        notes=notes_of(about),
        foot=how_it_was_made(),
        data=data_block("listing-data", listing.data) if listing else Markup(),
    )
    return Report(html, headline, examples=examples)


def _headline(passages: Passages) -> str:
    n_pairs = passages.n_pairs
    if not n_pairs:
        return "No shared passages"
    return f"{counted(len(passages), 'shared passage')} in {counted(n_pairs, 'pair')} of documents"


def _sentences(
    passages: Passages, ranked: Pairs, looked_at: Sequence[Looked], about: About
) -> list[str]:
    where = "of one collection" if passages.is_one else "of two collections"
    if about.n_documents:
        where = " and ".join(f"{n:,}" for n in about.n_documents)
        where = f"of {where} documents" if passages.is_one else f"of two collections ({where})"
    if not len(passages):
        return [f"The documents {where} were compared, and no two of them share a passage."]
    first = (
        "A passage is a stretch of text that two documents have in common. Sentences within it may "
        f"have been rewritten: {_rule(passages, about)} Among the documents {where}, "
        f"{len(passages.documents):,} share one with another."
    )
    query, doc = map(passages.name, (int(ranked.queries[0]), int(ranked.docs[0])))
    of_query, of_doc = (
        counted(n, "character") if share is None else percent(share)
        for n, share in looked_at[0].shared
    )
    most = (
        f"Most is shared by {query} and {doc}: their passages span {of_query} of {query} and "
        f"{of_doc} of {doc}. Within these the words that only one has are marked."
    )
    return [first, most, "That texts agree says nothing about who wrote them first."]


def _rule(passages: Passages, about: About) -> str:
    """Say how alike passages are at least, and how long; what is found says it, if nobody does."""
    threshold, min_tokens = about.summary.get("threshold"), about.summary.get("min_tokens")
    if threshold is None or min_tokens is None:
        parts = (spans.similarities for spans in passages.batches())
        least = min((some[~np.isnan(some)].min(initial=np.inf) for some in parts), default=np.inf)
        if least == np.inf:
            return "how alike passages are the table does not say."
        return f"as a whole the least alike of those found has a similarity of {least:.4f}."
    return (
        f"as a whole its similarity is at least {threshold:g}. In one of the two texts it has at "
        f"least {min_tokens:,} words, in the other it may have fewer, as where one text repeats "
        "what the other says once. Agreements shorter than that, or less alike, are not here."
    )


def _facts(passages: Passages, looked_at: Sequence[Looked]) -> list[tuple[str, ...]]:
    n_moved = sum(looked.n_moved for looked in looked_at)
    facts: list[tuple[str, ...]] = [
        (f"{len(passages):,}", "passages"),
        (f"{passages.n_pairs:,}", "pairs of documents"),
        (f"{len(passages.documents):,}", "documents that share one"),
        (f"{passages.n_characters:,}", "characters in passages, of the longer side"),
    ]
    if n_moved:
        where = f", in the {counted(len(looked_at), 'pair')} that share most"
        is_all = len(looked_at) == passages.n_pairs
        facts.append((f"{n_moved:,}", f"passages that have moved{'' if is_all else where}"))
    return facts
