"""The page of an alignment: who shares what with whom, where, and the texts side by side."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from neardup.outputs.ranking import Ranking
from neardup.reports.charts import Chart
from neardup.reports.differences import Example, equal_words, find_words, side_by_side, words_of
from neardup.reports.page import SCRIPTS, STYLES, Report, data_block, percent, render_page
from neardup.reports.passages.drawings import (
    MOST_LISTED,
    Looked,
    arcs,
    length_chart,
    pair_rows,
    similarity_chart,
    strips,
    who_with_whom,
)
from neardup.reports.passages.listing import make_listing
from neardup.reports.passages.model import (
    About,
    DocumentPair,
    Pairs,
    Passages,
    Spans,
    how_it_was_made,
    list_options,
    notes_of,
)
from neardup.reports.passages.reading import MOST_CHARACTERS, Reading, make_reading
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s

MOST_WITNESSES = 5
"""Witnesses in a group; texts are too narrow to be read where there are more."""

# Groups, and rows of each; characters of a stretch, of a cell, and of the groups' first texts.
_MOST_GROUPS, _MOST_ROWS = 12, 150
_STRETCH, _MOST_IN_CELL = 350, 3000
_MOST_CHARACTERS = 3_000_000
# Witnesses share so much of one of the two.
_LEAST_SHARE = 0.2
_ENDS = re.compile(r"\n+|(?<=[.!?;:。！？；])[\"'”’)\]]*\s+|(?<=[。！？；])")


@dataclass(frozen=True)
class Piece:
    """Text of a cell; ``is_own`` where the words are not those of the first witness.

    Of the first witness these are words that another one lacks.
    """

    text: str
    is_own: bool


@dataclass(frozen=True)
class Cell:
    """What a witness has for a stretch of the first one; nothing, if it has no pieces."""

    pieces: Sequence[Piece]
    has_moved: bool = False


@dataclass(frozen=True)
class Row:
    """A cell for each witness; or no cells, where all have the same words.

    ``beginning`` and ``end`` are then those of what they have, which is ``n_characters`` long.
    """

    cells: Sequence[Cell]
    beginning: str = ""
    end: str = ""
    n_characters: int = 0


@dataclass(frozen=True)
class Witnesses:
    """Names of witnesses, and their texts in rows; ``note`` says what is not there."""

    names: Sequence[str]
    rows: Sequence[Row]
    note: str


@dataclass(frozen=True)
class _Aligned:
    """Words of a passage, and which are the same in the first witness, as characters of both.

    ``base`` and ``own`` are the starts of words that are the same, ascending.
    """

    base_range: tuple[int, int]
    own_range: tuple[int, int]
    base: Int64s
    own: Int64s
    base_words: set[int]
    own_words: set[int]
    has_moved: bool

    def place(self, place: int) -> int:
        """Return where the other text goes on at a place of the first."""
        if place <= self.base_range[0]:
            return self.own_range[0]
        k = int(np.searchsorted(self.base, place))
        if place >= self.base_range[1] or k == len(self.base):
            return self.own_range[1]
        return int(self.own[k])


def gather_witnesses(passages: Passages) -> list[Witnesses]:
    """Find texts of which two others or more have a good part; each is in one group.

    The groups that share most come first. Of all whose texts are known the earliest document that
    shares with all others of its group is the first.
    """
    groups: list[tuple[int, dict[int, int], list[list[int]]]] = []
    left = _MOST_CHARACTERS
    for base, others in _groups(passages):
        columns = _columns(passages, base, others)
        text = passages.documents[base].text or ""
        if len(columns) < 2 or len(text) > left:
            continue
        left -= len(text)
        groups.append((base, others, columns))
        if len(groups) == _MOST_GROUPS:
            break
    rows = [row for _, others, _ in groups for row in others.values()]
    pairs = passages.known_pairs.take(np.array(rows, np.int64))
    described = {rows[k]: pair for k, pair in passages.describe(pairs)}
    return [
        _synopsis(passages, base, columns, {each: described[row] for each, row in others.items()})
        for base, others, columns in groups
    ]


def _groups(passages: Passages) -> Iterator[tuple[int, dict[int, int]]]:
    """Yield a first witness, and which of the known pairs it makes with the others, by these."""
    pairs = passages.known_pairs
    lengths = np.maximum(passages.documents.lengths, 1)
    queries, docs, shared = pairs.queries, pairs.docs, pairs.shared
    share = np.maximum(pairs.of_query / lengths[queries], pairs.of_doc / lengths[docs])
    good = (share >= _LEAST_SHARE) & (queries != docs)
    near: dict[int, dict[int, int]] = defaultdict(dict)
    by_documents = np.lexsort((docs, queries))
    for number in by_documents[good[by_documents]].tolist():
        near[int(queries[number])][int(docs[number])] = number
        near[int(docs[number])][int(queries[number])] = number

    def weight(base: int) -> int:
        return sum(sorted((int(shared[n]) for n in near[base].values()), reverse=True)[:4])

    used: set[int] = set()
    for centre in sorted(near, key=lambda each: (-weight(each), each)):
        free = {other: n for other, n in near[centre].items() if other not in used}
        if centre in used or len(free) < 2:
            continue
        best = sorted(free, key=lambda other: (-int(shared[free[other]]), other))
        members = sorted([centre, *best[: MOST_WITNESSES - 1]])
        base = next(
            each
            for each in members
            if all(other in near[each] for other in members if other != each) or each == centre
        )
        used.update(members)
        yield base, {other: near[base][other] for other in members if other != base}


def _synopsis(
    passages: Passages,
    base: int,
    others: Sequence[Sequence[int]],
    pairs: Mapping[int, DocumentPair],
) -> Witnesses:
    text = passages.documents[base].text or ""
    columns = [_Column(passages, base, documents, pairs) for documents in others]
    rows: list[Row] = []
    same: list[tuple[int, int]] = []
    n_left = 0
    for start, stop in _stretches(text):
        if len(rows) >= _MOST_ROWS:
            n_left = len(text) - start
            break
        cells = [column.cell(start, stop) for column in columns]
        # What a witness lacks altogether is no news of single words.
        having = [column for column, cell in zip(columns, cells, strict=True) if cell.pieces]
        words = (start + word for word, _ in find_words(text[start:stop]))
        known = {word for word in words if all(word in column.base_words for column in having)}
        everything = [Cell(_pieces(text, start, stop, known)), *cells]
        if all(
            cell.pieces and not cell.has_moved and not any(piece.is_own for piece in cell.pieces)
            for cell in everything
        ):
            same.append((start, stop))
            continue
        rows += [*_folded(text, same), Row(everything)]
        same = []
    rows.extend(_folded(text, same))
    note = f"What {passages.name(base)} lacks altogether is not here."
    if n_left:
        note += f" Its last {n_left:,} characters are left out."
    names = [passages.name(base), *(column.name for column in columns)]
    return Witnesses(names, rows, note)


def _columns(passages: Passages, base: int, others: Iterable[int]) -> list[list[int]]:
    """Put documents of one file into one column, unless all are of that of the first witness.

    So two chapters of one edition that are one of another stand below each other.
    """
    others = list(others)
    files = [passages.documents[each].file for each in others]
    if None in files or passages.documents[base].file in files:
        return [[each] for each in others]
    columns: dict[str | None, list[int]] = defaultdict(list)
    for each, file in zip(others, files, strict=True):
        columns[file].append(each)
    return list(columns.values())


class _Column:
    """One witness, in one document or some of one file.

    ``base_words`` are the starts of the words of the first witness that it has.
    """

    def __init__(
        self,
        passages: Passages,
        base: int,
        documents: Sequence[int],
        pairs: Mapping[int, DocumentPair],
    ) -> None:
        self.name = ", ".join(passages.name(each) for each in documents)
        self._parts = [
            (passages.documents[each].text or "", part)
            for each in documents
            for part in _aligned(passages, pairs[each], base, each)
        ]
        self.base_words: set[int] = set().union(*(part.base_words for _, part in self._parts))

    def cell(self, start: int, stop: int) -> Cell:
        """Return what it has for a stretch, of the passage that has most of that."""

        def common(found: tuple[str, _Aligned]) -> int:
            first, last = found[1].base_range
            return min(stop, last) - max(start, first)

        text, best = max(self._parts, key=common)
        if common((text, best)) <= 0:
            return Cell(())
        first, last = best.place(start), best.place(stop)
        if last <= first:
            return Cell(())
        return Cell(_pieces(text, first, last, best.own_words), best.has_moved)


def _aligned(passages: Passages, pair: DocumentPair, base: int, other: int) -> Iterator[_Aligned]:
    """Compare the passages of a pair word by word."""
    for row, moved in enumerate(pair.moved.tolist()):
        ranges = pair.spans.places(row)
        of_base, of_own = ranges if pair.query == base else ranges[::-1]
        text_a, text_b = (passages.documents[each].text or "" for each in (base, other))
        places_a, keys_a = words_of(text_a[slice(*of_base)])
        places_b, keys_b = words_of(text_b[slice(*of_own)])
        starts_a: list[int] = []
        starts_b: list[int] = []
        for a, b, n in equal_words(keys_a, keys_b):
            starts_a += (of_base[0] + start for start, _ in places_a[a : a + n])
            starts_b += (of_own[0] + start for start, _ in places_b[b : b + n])
        in_base, in_own = (np.array(each, np.int64) for each in (starts_a, starts_b))
        yield _Aligned(of_base, of_own, in_base, in_own, set(starts_a), set(starts_b), moved)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Cut a text behind sentences and lines, so that stretches are long enough to be read."""
    start = 0
    for end in _ENDS.finditer(text):
        if end.end() - start >= _STRETCH:
            yield start, end.end()
            start = end.end()
    if start < len(text):
        yield start, len(text)


def _pieces(text: str, start: int, stop: int, known: set[int]) -> list[Piece]:
    """Cut text where words that are known and others meet."""
    end = min(stop, start + _MOST_IN_CELL)
    pieces: list[Piece] = []
    place, last, is_own = start, start, False
    for first, after in find_words(text[start:end]):
        here = start + first
        if (here not in known) != is_own:
            # What stands between words is nobody's own.
            cut = last if is_own else here
            if cut > place:
                pieces.append(Piece(text[place:cut], is_own))
            place, is_own = cut, here not in known
        last = start + after
    cut = last if is_own else end
    pieces += [Piece(text[place:cut], is_own), Piece(text[cut:end], False)]
    if end < stop:
        pieces.append(Piece(f" … {stop - end:,} more characters", False))
    return [piece for piece in pieces if piece.text]


def _folded(text: str, same: Sequence[tuple[int, int]]) -> Iterator[Row]:
    """Put stretches together in which all witnesses have the same words."""
    if not same:
        return
    whole = text[same[0][0] : same[-1][1]]
    if len(whole) <= 160:
        yield Row((), whole, "", len(whole))
    else:
        yield Row((), whole[:70].rsplit(" ", 1)[0], whole[-70:].split(" ", 1)[-1], len(whole))


# Passages to judge by: the least alike, the longest, one in the middle, one that has moved.

# Characters of a passage that are compared.
_MOST_OF_EXAMPLE = 20_000


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


# Texts in drawings: of one line, and of bars.
_MOST_DRAWN, _MOST_STRIPS = 12, 16

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
    reading = make_reading(passages)
    listing = make_listing(passages, reading)
    headline = _headline(passages)
    drawings = _drawings(passages, reading)
    witnesses = gather_witnesses(passages)
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
    least = about.summary.get("min_tokens")
    shorter = f" of {least} tokens or more" if least else ""
    has_reading = reading is not None or (len(passages) > 0 and about.how_to_give_texts)
    html = render_page(
        "passages.html",
        title=headline,
        contents=[
            ("who", "Who with whom"),
            ("passages", "Every passage", listing),
            ("where", "Where in the texts", drawings),
            ("reading", "Side by side", has_reading),
            ("witnesses", "Witnesses", witnesses),
            ("examples", "To judge by", examples),
            ("figures", "How alike", any(charts)),
            ("how", "How they were found", options),
        ],
        styles=[*STYLES, "passages.css", "reading.css"],
        scripts=[*SCRIPTS, "reading.js", "listing.js"],
        kind="shared passages",
        listing=listing,
        sentences=list(_sentences(passages, ranked, looked_at, about)),
        facts=_facts(passages, looked_at[:_MOST_LOOKED_AT]),
        matrix=who_with_whom(passages, "matrix"),
        pairs=pair_rows(passages, listed, looked_at),
        pairs_title="Pairs of documents"
        if len(listed) == passages.n_pairs
        else f"The {len(listed):,} pairs that share most, of {passages.n_pairs:,}",
        reading_places=[
            reading.place_of(*pair)
            for pair in zip(listed.queries.tolist(), listed.docs.tolist(), strict=True)
        ]
        if reading
        else [],
        nothing=f"No two documents share a passage{shorter}. Shorter passages are found with a "
        "smaller --min-tokens, and less similar ones with a lower --threshold.",
        drawings=drawings,
        has_reading=reading is not None,
        reading_lead=_reading_lead(reading, passages) if reading else "",
        no_reading=about.how_to_give_texts if len(passages) else "",
        witnesses=witnesses,
        examples=examples,
        charts=charts,
        options=options,
        notes=notes_of(about),
        foot=how_it_was_made(),
        data=(data_block("reading-data", reading.data) if reading else Markup())
        + (data_block("listing-data", listing.data) if listing else ""),
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


def _drawings(passages: Passages, reading: Reading | None) -> list[Chart]:
    """Draw the texts that share most, in their order."""
    if not len(passages):
        return []
    first = passages.first_documents
    title = "Passages from text to text"
    if passages.is_one:
        drawn = arcs(passages, first(("queries", "docs"), _MOST_DRAWN), [], "arcs", title)
    else:
        upper, lower = (first([side], _MOST_DRAWN) for side in ("queries", "docs"))
        drawn = arcs(passages, upper, lower, "arcs", title)
    texts = first(("queries", "docs"), _MOST_STRIPS)
    return [drawn, strips(passages, texts, "strips", "What of each text is shared", reading)]


def _reading_lead(reading: Reading, passages: Passages) -> str:
    n, n_all = len(reading.pairs), passages.n_pairs
    if n == n_all:
        return "Whole texts, with what they share in colour."
    return (
        f"Whole texts, with what they share in colour: the {counted(n, 'pair')} that share most "
        f"and have room in a page of {MOST_CHARACTERS // 1_000_000} million characters, "
        f"of {n_all:,}."
    )
