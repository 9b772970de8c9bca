"""The page on which pairs are judged: its pairs, and what it shows of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.outputs.ranking import Ranking
from neardup.reports.differences import CONTEXT, Run, side_by_side
from neardup.reports.page import STYLES, Report, data_block, render_page
from neardup.reports.pairs.judgements import (
    LABEL,
    NO,
    NOTE,
    UNJUDGED,
    UNSURE,
    YES,
    Judgements,
)
from neardup.reports.pairs.labelled import Labelled
from neardup.reports.pairs.page import describe_pairs
from neardup.reports.pairs.table import PairsTable
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s

# What the page calls judgements, by their numbers; 0 is a pair that nobody has judged.
_WORDS = (UNJUDGED, YES, NO, UNSURE)

# Texts of which nothing is left out, however alike they are, and characters that are looked at.
_SHORT, _LONGEST = 1000, 200_000

# Values of the fields of a document, by side and id; None where it is not known.
FindFields = Callable[[str, str], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Given:
    """Earlier judgements of the pairs of a table: words and notes by place."""

    words: Mapping[int, str]
    notes: Mapping[int, str]

    @classmethod
    def of(cls, pairs: PairsTable, judged: Judgements | None) -> Given:
        """Find the pairs that were judged; in a table of one collection a and b may be exchanged.

        Ids of all pairs are in memory for it.
        """
        words: dict[int, str] = {}
        notes: dict[int, str] = {}
        if judged is None:
            return cls(words, notes)
        ways = judged.pairs()
        of_words = judged.words or [YES] * len(ways)
        named = [(pair, row) for row, pair in enumerate(ways)]
        if not pairs.two_sided:
            named = [((b, a), row) for (a, b), row in named] + named
        # Of rows of one pair the last counts: one that has a word, and names it this way round.
        known = dict(sorted(named, key=lambda each: of_words[each[1]] != UNJUDGED))
        places, ids_a, ids_b = pairs.all_ids()
        of_table = zip(places.tolist(), ids_a.to_pylist(), ids_b.to_pylist(), strict=True)
        for place, a, b in of_table:
            found = known.get((a, b))
            if found is None:
                continue
            word = of_words[found]
            if word != UNJUDGED:
                words[place] = word
            if judged.notes[found]:
                notes[place] = judged.notes[found]
        return cls(words, notes)


@dataclass(frozen=True)
class Pivot:
    """The value about which it is least certain whether a pair is right, and why; None of no pairs.

    ``value`` is one that pairs are ranked by, ``shown`` how people write it.
    """

    value: float | None
    shown: str
    reason: str


def find_pivot(pairs: PairsTable, labelled: Labelled | None) -> Pivot:
    """Return the best threshold by labels where there is one, else what parts pairs in two.

    Above the best threshold most pairs are right, below it most are wrong: near it either may be.
    Without labels nothing is known but how similar pairs are; see ``part_in_two``.
    """
    if not len(pairs):
        return Pivot(None, "", "")
    best = None if labelled is None else labelled.evaluation.best
    if labelled is not None and best is not None:
        value = labelled.evaluation.round_threshold(best)
        reason = "the best threshold by the labels given"
    else:
        value = part_in_two(pairs)
        reason = "which parts them into two groups best; labels would tell a better threshold"
    kind = "distance" if pairs.by_distance else "similarity"
    return Pivot(value, f"{kind} {abs(value):.3g}", reason)


# Bars of the histogram of values that are parted.
_BARS = 512


def part_in_two(pairs: PairsTable) -> float:
    """Return the value that parts pairs into two groups which differ most for their sizes.

    Pairs that are the same and pairs that are not are such groups, if not always. On three sets of
    records it is nearer to the best threshold by labels than the median is, which lies among the
    wrong pairs where these are many, and among the right ones where they are few.

    References
    ----------
    Otsu (1979), A threshold selection method from gray-level histograms.
    """
    least, greatest = pairs.least, pairs.greatest
    if pairs.by_distance:
        scores = [(int(found.min()), int(found.max())) for _, found in pairs.scores() if len(found)]
        least, greatest = -max(high for _, high in scores), -min(low for low, _ in scores)
    if least == greatest:
        return float(least)
    # Counted from the least one: between values that differ by rounding there is no room for bars.
    edges: Floats = np.linspace(0, greatest - least, _BARS + 1)
    counts = np.zeros(_BARS)
    for _, found in pairs.values():
        counts += np.histogram(found - least, edges)[0]
    middles = (edges[:-1] + edges[1:]) / 2
    below, sums = np.cumsum(counts)[:-1], np.cumsum(counts * middles)[:-1]
    above = counts.sum() - below
    apart = (sums / below) - (np.sum(counts * middles) - sums) / above
    spread = below * above * apart**2
    # Between two groups with nothing between them every value is as good: the middle one.
    best = np.flatnonzero(spread >= spread.max() * (1 - 1e-12))
    return float(least + (edges[best[0] + 1] + edges[best[-1] + 1]) / 2)


def choose_to_judge(pairs: PairsTable, pivot: Pivot, given: Given, limit: int) -> Int64s:
    """Return the places of the pairs of the page, ascending.

    They are the pairs that were judged before, so that the page hands them out, too, and then the
    pairs nearest to the pivot.
    """
    judged = np.array(sorted(given.words), np.int64)
    middle = 0.0 if pivot.value is None else pivot.value

    def values() -> Iterator[tuple[Int64s, Floats]]:
        for places, found in pairs.values():
            yield places, np.where(np.isin(places, judged), np.inf, -np.abs(found - middle))

    n = min(len(pairs), max(limit, len(judged)))
    chosen = Ranking(values).rows([range(n)])[0]
    return np.sort(chosen)


@dataclass(frozen=True)
class Fields:
    """What is known of documents: names of fields in order, and where their values are.

    ``find`` is None where no documents were given: then only the table has values.
    """

    names: Sequence[str]
    find: FindFields | None


def render_review(
    pairs: PairsTable,
    places: Int64s,
    fields: Fields,
    pivot: Pivot,
    given: Given,
    advice: str,
    notes: Sequence[str] = (),
) -> Report:
    """Make the page of the pairs at some places; ``advice`` says how fields are seen that lack."""
    looked_at = pairs.look(places)
    stems = [stem for stem in pairs.stems if stem not in fields.names]
    names = [*stems, *fields.names]
    own = {*pairs.names, "similarity", *(f"{stem}_{side}" for stem in pairs.stems for side in "ab")}
    facts = [name for name in pairs.rows.schema.names if name not in own]
    rows: list[list[Any]] = []
    n_unknown = 0
    for place, row in looked_at.items():
        sides: list[Mapping[str, Any]] = []
        is_unknown = False
        for side in "ab":
            found = None if fields.find is None else fields.find(side, row[side])
            is_unknown |= fields.find is not None and found is None
            sides.append({stem: row[f"{stem}_{side}"] for stem in stems} | dict(found or {}))
        n_unknown += is_unknown
        values = [_compared(*(as_shown(each.get(name)) for each in sides)) for name in names]
        rows.append(
            [
                *(row["a"], row["b"], row["similarity"], values),
                [_plain(row[name]) for name in facts],
                *(_WORDS.index(given.words.get(place, UNJUDGED)), given.notes.get(place, "")),
            ]
        )
    # Fields that no document has a value for are of no use.
    used = [k for k in range(len(names)) if any(row[3][k] != "" for row in rows)]
    for pair in rows:
        pair[3] = [pair[3][k] for k in used]
    content = {
        "fields": [names[k] for k in used],
        "facts": facts,
        "pairs": rows,
        "is_count": pairs.is_count,
    }
    title = review_heading(places, given)
    html = render_page(
        "review.html",
        title=title,
        styles=(*STYLES, "review.css"),
        scripts=("page.js", "review.js"),
        contents=[("judge", "Judge"), ("pairs", "Pairs"), ("labels", "Labels")],
        heading=title,
        leads=list(_leads(pairs, len(rows), pivot, given)),
        n_pairs=len(rows),
        advice=advice if n_unknown or not used else "",
        data=data_block(
            "review-data",
            {
                **content,
                "pivot": pivot.value,
                "ranked_by": facts.index("distance") if pairs.by_distance else -1,
                # By what the page shows, so that judgements are those of these pairs alone.
                "key": f"neardup-review-{_digest(content)}",
                "columns": ("id_a", "id_b", LABEL, "similarity", NOTE),
            },
        ),
    )
    if n_unknown:
        notes = [*notes, f"hint: {counted(n_unknown, 'pair')} with an empty side. {advice}"]
    return Report(html, title, notes)


def review_heading(places: Int64s, given: Given) -> str:
    """Return the title of a page of some pairs: how many are judged, and how many are to be."""
    n_judged = sum(place in given.words for place in places.tolist())
    n_open = len(places) - n_judged
    if not n_judged:
        return f"{counted(n_open, 'pair')} to judge"
    return f"{counted(n_judged, 'pair')} judged, {n_open:,} to judge"


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()[:32]


def _leads(pairs: PairsTable, n: int, pivot: Pivot, given: Given) -> Iterator[str]:
    yield describe_pairs(pairs)
    if n < len(pairs):
        yield (
            f"The table has {len(pairs):,} pairs; this page has {n:,}, nearest to {pivot.shown}, "
            f"and leaves {len(pairs) - n:,} out. --limit says how many it may have."
        )
    if pairs.n_unknown:
        yield f"{counted(pairs.n_unknown, 'row')} of the table without a similarity are left out."
    if pivot.value is not None:
        yield f"Least certain first: those nearest to {pivot.shown}, {pivot.reason}."
    if given.words:
        yield f"{counted(len(given.words), 'pair')} had been judged before."


# What is shown of two values.


def as_shown(value: Any) -> str:
    """Return a value of a field as text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False, default=str)[:_LONGEST]
    return str(value)


def _plain(value: Any) -> int | float | str | None:
    """Return a value that JSON has."""
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, int | float | None) else as_shown(value)


def _compared(a: str, b: str) -> str | list[list[str | list[str] | int]]:
    """Return a value that is the same on both sides, or runs of either side.

    A run is what both have, as a string; what only this side has, as a list of one string; or the
    number of words that are left out.
    """
    is_short = max(len(a), len(b)) <= _SHORT
    if a == b and is_short:
        return a
    if not (a and b):
        return [_runs([Run("changed", text, 0)] if text else []) for text in (a, b)]
    found = side_by_side(a, b, context=None if is_short else CONTEXT)
    return [_runs(found.a), _runs(found.b)]


def _runs(runs: Sequence[Run]) -> list[str | list[str] | int]:
    written: list[str | list[str] | int] = []
    for run in runs:
        if run.kind == "omitted":
            written.append(run.n_words)
        else:
            written.append([run.text] if run.kind == "changed" else run.text)
    return written
