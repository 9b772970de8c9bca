"""The reading view: pairs of documents whose whole texts a page carries, with their passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.reports.differences import equal_words, words_of
from neardup.reports.page import shortened
from neardup.reports.passages.model import DocumentPair, Passages
from neardup.tables import Int64s, offsets_of

# Which words of two passages the other one lacks.


def changed_places(a: str, b: str) -> tuple[list[int], list[int]]:
    """Return where runs of words that the other text lacks begin and end, in turn, of both texts.

    Case does not count, and neither does what stands between words.
    """
    (places_a, keys_a), (places_b, keys_b) = words_of(a), words_of(b)
    places = places_a, places_b
    found: tuple[list[int], list[int]] = ([], [])
    ends = [0, 0]
    for block in [*equal_words(keys_a, keys_b), (len(places[0]), len(places[1]), 0)]:
        for side in (0, 1):
            if block[side] > ends[side]:
                found[side].extend((places[side][ends[side]][0], places[side][block[side] - 1][1]))
            ends[side] = block[side] + block[2]
    return found


MOST_CHARACTERS = 6_000_000
"""Characters of all texts that a page carries."""

MOST_PAIRS = 50
"""Pairs of documents that can be read side by side."""

# Passages of a pair that are marked: the longest.
_MOST_PASSAGES = 2000

# What HTML cannot show is shown by its picture; one character stays one, so that places hold.
PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n\r"}
PICTURES |= {127: "\u2421"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


@dataclass(frozen=True)
class Reading:
    """What the reading view needs: its data, and which pairs it has.

    ``data`` has ``documents`` with ``name``, ``note`` and ``text``, and ``pairs`` with ``label``,
    ``documents`` (two numbers) and ``passages``: ``places`` on both sides, ``similarity``,
    ``moved``, ``cited``, where it begins as people cite it, and ``changes``, places where a run of
    words that the other one lacks begins or ends.
    Places are counted as JavaScript counts them. ``pairs`` has the numbers of both documents, and
    ``rows`` which of a pair's passages each row of the table is.
    """

    data: dict[str, Any]
    pairs: Sequence[tuple[int, int]]
    rows: Sequence[Mapping[int, int]]

    def place_of(self, query: int, doc: int) -> int | None:
        """Return which pair of the view is that of two documents, None if it is not there."""
        return self.pairs.index((query, doc)) if (query, doc) in self.pairs else None

    def passage_at(self, pair: int, row: int) -> int | None:
        """Return which passage of a pair, from 1 on, a row of the table is; None if it is none."""
        return self.rows[pair].get(row)


def make_reading(passages: Passages, most: int = MOST_CHARACTERS) -> Reading | None:
    """Take the pairs that share most as long as there is room for their texts.

    Returns
    -------
    None if there is no pair whose texts are known, or no room for one. Of a pair with very many
    passages the longest are marked.
    """
    placed: dict[int, int] = {}
    documents: list[dict[str, str]] = []
    units: list[Int64s | None] = []
    chosen: list[int] = []
    left = most
    known = passages.known_pairs
    ends = list(zip(known.queries.tolist(), known.docs.tolist(), strict=True))
    for row, pair in enumerate(ends):
        if len(chosen) == MOST_PAIRS:
            break
        texts = {each: passages.documents[each].text for each in pair}
        new = {each: text for each, text in texts.items() if each not in placed}
        size = sum(len(text or "") for text in new.values())
        if size > left:
            continue
        left -= size
        for each, text in new.items():
            assert text is not None
            placed[each] = len(documents)
            units.append(_units_before(text))
            name, file = passages.documents[each].id, passages.documents[each].file
            note = file if file and file not in name else ""
            name = shortened(name)
            documents.append({"name": name, "note": note, "text": text.translate(PICTURES)})
        chosen.append(row)
    if not chosen:
        return None
    pairs: list[dict[str, Any]] = [{} for _ in chosen]
    rows: list[dict[int, int]] = [{} for _ in chosen]
    for k, described in passages.describe(known.take(np.array(chosen, np.int64))):
        query, doc = ends[chosen[k]]
        longest = np.argsort(-described.spans.lengths, kind="stable")[:_MOST_PASSAGES]
        marked = np.sort(longest)
        rows[k] = {row: n for n, row in enumerate(described.spans.rows[marked].tolist(), 1)}
        pairs[k] = {
            "label": f"{passages.name(query)} and {passages.name(doc)}",
            "documents": [placed[query], placed[doc]],
            "passages": list(_passages(passages, described, marked, units, placed)),
        }
    data = {"documents": documents, "pairs": pairs}
    return Reading(data, [ends[row] for row in chosen], rows)


def _passages(
    passages: Passages,
    pair: DocumentPair,
    marked: Int64s,
    units: Sequence[Int64s | None],
    placed: dict[int, int],
) -> Iterator[dict[str, Any]]:
    spans = pair.spans.take(marked)
    texts = [passages.documents[each].text or "" for each in (pair.query, pair.doc)]
    shifts = [units[placed[each]] for each in (pair.query, pair.doc)]
    cited = passages.cited(spans)
    for row, moved in enumerate(pair.moved[marked].tolist()):
        places = spans.places(row)
        pieces = [text[start:stop] for text, (start, stop) in zip(texts, places, strict=True)]
        changes = changed_places(pieces[0], pieces[1])
        similarity = float(spans.similarities[row])
        found: dict[str, Any] = {
            "places": [_shifted(place, shift) for place, shift in zip(places, shifts, strict=True)],
            "similarity": None if np.isnan(similarity) else round(similarity, 4),
            "moved": moved,
        }
        if cited is not None:
            found["cited"] = cited[row]
        if any(changes):
            found["changes"] = [
                _shifted([start + place for place in ends], shift)
                for (start, _), ends, shift in zip(places, changes, shifts, strict=True)
            ]
        yield found


def _units_before(text: str) -> Int64s | None:
    """Count for each place the characters before it that JavaScript counts as two, if any are."""
    if text.isascii() or max(text, default="") <= "\uffff":
        return None
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return offsets_of(codes > 0xFFFF)


def _shifted(places: Sequence[int], units: Int64s | None) -> list[int]:
    return list(places) if units is None else [place + int(units[place]) for place in places]
