"""The page of a table of pairs, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.outputs.ranking import Ranking
from neardup.reports.differences import Example, side_by_side
from neardup.reports.page import Report, percent, render_page, shortened
from neardup.reports.pairs.labelled import MOST_ERRORS, Labelled, curve_chart
from neardup.reports.pairs.table import (
    PairsTable,
    Partners,
    as_floats,
    number_ids,
    partners_of,
    similarity_chart,
)
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s

# What the page of pairs says in words: what was found, how, and whether to trust it.


def heading(pairs: PairsTable) -> str:
    """Return the title of the page."""
    what = "estimated pair" if pairs.has_intervals else "similar pair"
    if pairs.names[0] == "query_id":
        what = "match"
    n = len(pairs)
    title = counted(n, what, f"{what}es" if what == "match" else None)
    documents = list(pairs.summary.get("documents", ()))
    if not all(isinstance(each, int) for each in documents):
        return title
    counts = " and ".join(f"{number:,}" for number in documents)
    return f"{title} among {counts} documents" if counts else title


def sentences(pairs: PairsTable, partners: Sequence[Partners]) -> list[str]:
    """Say what the pairs are, who is in them, and what may be missing."""
    found = [describe_pairs(pairs), *([_who(partners)] if len(pairs) else []), *_trust(pairs)]
    if pairs.n_unknown:
        found.append(
            f"{pairs.n_unknown:,} more rows have no similarity, for want of anything to estimate "
            "it by, and are left out here."
        )
    return found


def describe_pairs(pairs: PairsTable) -> str:
    """Say what the pairs of a table are, and which were asked for."""
    summary = pairs.summary
    measure = summary.get("measure")
    if not len(pairs):
        return "No pair was found."
    if measure is None:
        known = "" if pairs.has_intervals else "; Parquet files of `neardup pairs` do"
        return (
            f"Similarities lie between {pairs.least:.3f} and {pairs.greatest:.3f}; the table does "
            f"not say by which measure{known}."
        )
    by = f"Similarity is {measure}"
    if summary.get("max_distance") is not None:
        kind = "a Hamming distance of" if measure == "hamming" else "an edit distance of"
        by = f"Pairs are within {kind} {summary['max_distance']:,}"
    elif summary.get("threshold") is not None:
        by += f", {summary['threshold']:g} or more"
    if summary.get("top"):
        each = " for each document" if summary.get("per_document") else ""
        by += f"; only the {summary['top']:,} best{each} were asked for"
    if summary.get("blocking"):
        by += f"; only documents of equal {' and '.join(summary['blocking'])} were compared"
    if summary.get("also"):
        by += f"; pairs of different {' or '.join(summary['also'])} are left out"
    if summary.get("one_to_one"):
        by += "; each document is in one pair at most, the most similar first"
    return by + "."


def _who(partners: Sequence[Partners]) -> str:
    parts = []
    for each in partners:
        side = f" of side {each.side}" if each.side else ""
        share = f" ({percent(each.n_documents / each.n_in_all)})" if each.n_in_all else ""
        parts.append(f"{each.n_documents:,} documents{side}{share}")
    greatest = max(each.greatest for each in partners)
    rest = "each in one only"
    if greatest != 1:
        rest = f"{greatest:,} partners are the most that one has"
    return f"{' and '.join(parts)} are in a pair; {rest}."


def _trust(pairs: PairsTable) -> list[str]:
    summary = pairs.summary
    if pairs.has_intervals and len(pairs):
        return list(_trust_of_estimates(pairs))
    if summary.get("method") == "exact":
        only = " of those asked for" if summary.get("top") or summary.get("one_to_one") else ""
        same = " and ".join(summary.get("blocking", ()))
        which = f"All documents{f' of equal {same}' if same else ''} were compared, exactly"
        if not summary.get("also"):
            which += f": no pair{only} is missing{' there' if same else ''}"
        return [f"{which}.", *_left_out(summary)]
    if summary.get("method") == "minhash":
        recall = summary.get("predicted_recall")
        said = "Every pair was compared exactly"
        if recall is not None:
            said += (
                f"; a pair at the threshold was found with probability {percent(recall)}, one that "
                "is more similar with a higher one"
            )
        return [said + ".", *_left_out(summary)]
    return []


def _trust_of_estimates(pairs: PairsTable) -> Iterator[str]:
    threshold = pairs.summary.get("threshold")
    n_known = n_sure = 0
    widest = -np.inf

    def halves() -> Iterator[tuple[Int64s, Floats]]:
        for places, table in pairs.batches("low", "high"):
            half = (as_floats(table["high"]) - as_floats(table["low"])) / 2
            is_known = ~np.isnan(half)
            yield places[is_known], half[is_known]

    for _, half in halves():
        n_known += len(half)
        widest = max(widest, half.max(initial=-np.inf))
    if threshold is not None:
        n_sure = sum(
            int((as_floats(table["low"]) >= threshold).sum()) for _, table in pairs.batches("low")
        )
    median = Ranking(halves).median(n_known)
    yield (
        f"Similarities are estimates from sketches: half of them lie within {median:.3f} of the "
        "true value, by their 95 % intervals, and all within "
        f"{widest if n_known else np.nan:.3f}."
    )
    if threshold is not None:
        yield f"Of {n_sure:,} pairs the whole interval lies above the threshold."


def _left_out(summary: Mapping[str, Any]) -> list[str]:
    """Say which pairs are not here although their texts are similar."""
    found = []
    if summary.get("blocking"):
        same = " and ".join(summary["blocking"])
        said = f"Pairs of different {same}, or of none, are not here"
        if summary.get("unblocked"):
            n = summary["unblocked"]
            said += f"; {n:,} document{' has' if n == 1 else 's have'} none"
        found.append(said + ".")
    if summary.get("also"):
        before, n = summary.get("pairs_before_also"), summary.get("similar_pairs", summary["pairs"])
        counts = "" if before is None else f": {n:,} of {before:,} stay"
        found.append(f"Pairs of different {' or '.join(summary['also'])} are not here{counts}.")
    return found


def labels_sentences(pairs: PairsTable, labelled: Labelled) -> list[str]:
    """Say what labels say, and what their figures are relative to."""
    n, missing = labelled.n_labels, labelled.n_missing
    what = "labelled pairs" if labelled.is_partial else "pairs"
    said = (
        f"{len(labelled.rows):,} {what} of the table were judged, {int(labelled.is_right.sum()):,} "
        f"of them right; labels have {n:,} right pairs."
    )
    relative = (
        "Recall is the share of these that a threshold finds. "
        f"{missing:,} of them ({percent(missing / n) if n else '0 %'}) are not in the table and "
        "count as missed by every threshold"
    )
    if missing and (reasons := _why_missing(pairs.summary)):
        relative += f"; they are {' or '.join(reasons)}"
    wrong = (
        "Pairs without a label are left out."
        if labelled.is_partial
        else "A pair that labels do not have counts as wrong, so labels must be complete."
    )
    strange = [f"{note}." for note in labelled.notes()]
    chosen = [_chosen_by_labels(pairs, labelled), *_confirmed(labelled)]
    return [said, relative + ".", *strange, wrong, *chosen]


def _why_missing(summary: Mapping[str, Any]) -> list[str]:
    """Say what may keep a pair that is right out of the table."""
    reasons = []
    if summary.get("threshold") is not None:
        reasons.append(f"less similar than {summary['threshold']:g}")
    if summary.get("blocking"):
        reasons.append(f"of different {' and '.join(summary['blocking'])}")
    if summary.get("also"):
        reasons.append(f"of different {' or '.join(summary['also'])}")
    if summary.get("one_to_one"):
        reasons.append("of documents that a more similar one has taken")
    return reasons


def _chosen_by_labels(pairs: PairsTable, labelled: Labelled) -> str:
    """Say what the best threshold is good for."""
    said = (
        "Precision is the share of the pairs found that is right, F1 the harmonic mean of both. "
        "The best threshold is chosen by these very labels: for other documents it may be another"
    )
    found = labelled.evaluation
    least = pairs.summary.get("threshold")
    if found.best is not None and least is not None and not pairs.by_distance:
        best = float(found.round_threshold(found.best))
        if best <= least:
            said += "; it is the lowest there is in this table, and a lower one may be better"
    return said + "."


def _confirmed(labelled: Labelled) -> Iterator[str]:
    """Say how good the best threshold of half of the judged pairs is on the other half."""
    chosen, other = labelled.halves()
    if chosen.best is None:
        return
    threshold = chosen.round_threshold(chosen.best)
    place = other.at(threshold)
    if place is None:
        return
    yield (
        f"Half of the judged pairs choose the threshold {abs(threshold):g}; on the other half it "
        f"has precision {other.precisions[place]:.3f}, recall {other.recalls[place]:.3f} and F1 "
        f"{other.f1_scores[place]:.3f}."
    )


# Which pairs a page shows beside each other, and how.

MOST_EXAMPLES = 4
"""Of each group."""

MOST_CHARACTERS = 200_000
"""Of a text that is compared for the page."""

# Pairs that are looked at for each that is shown.
_LOOKED_AT = 1000

# What a table says of a pair, by column; and of some, by the places of their rows.
Row = Mapping[str, Any]
LookedAt = Mapping[int, Row]

# Text and place of a document, None where it is not known: by side and id.
FindText = Callable[[str, str], tuple[str, str] | None]


@dataclass(frozen=True)
class Chosen:
    """Pairs that are shown under one heading, as rows of the table; or as ids, with no row."""

    name: str
    title: str
    lead: str
    rows: Sequence[int]
    ids: Sequence[tuple[str, str]] = ()
    n_in_all: int | None = None


@dataclass(frozen=True)
class Group:
    """Examples under one heading, and pairs whose texts are not known, as lines."""

    name: str
    title: str
    lead: str
    examples: Sequence[Example]
    lines: Sequence[tuple[str, ...]]


def choose_rows(pairs: PairsTable) -> list[Chosen]:
    """Choose examples: the most similar that differ, in the middle, and the least similar."""
    n, ranking = len(pairs), Ranking(pairs.values)
    is_same = 0.0 if pairs.by_distance else 1.0
    n_equal = 0
    if not pairs.is_count and ranking.values([0]) == [is_same]:
        n_equal = sum(int((values == is_same).sum()) for _, values in pairs.values())
    n_differing = n - n_equal
    if not n_differing:
        parts = [("equal", "All are equal by this measure", "", range(n))]
    else:
        parts = [("closest", "The most similar that differ", "", range(n_equal, n))]
    if n_differing > 3 * MOST_EXAMPLES:
        middle = range(n_equal + n_differing // 2, n)
        parts.append(
            ("middle", "In the middle", "Half of those that differ are less similar.", middle)
        )
    if n_differing > MOST_EXAMPLES:
        lead = "If these are not what you want, the threshold is too low."
        least = range(n_equal + MOST_EXAMPLES, n)[::-1]
        parts.append(("least", "The least similar", lead, least))
    # In a large group of documents that are alike many rows are of the same few documents.
    ranks = [part[-1][: _LOOKED_AT * MOST_EXAMPLES] for part in parts]
    ascending = ranking.rows([each if each.step > 0 else each[::-1] for each in ranks])
    found = [rows[:: each.step] for rows, each in zip(ascending, ranks, strict=True)]
    few = few_of(pairs, found, MOST_EXAMPLES)
    return [
        Chosen(name, title, lead, rows)
        for (name, title, lead, _), rows in zip(parts, few, strict=True)
    ]


def few_of(pairs: PairsTable, lists: Sequence[Int64s], most: int) -> list[list[int]]:
    """Return some pairs of each list, the first ones, but each document once if there are others.

    Of a list so many are looked at as ``_LOOKED_AT`` says for each of these.
    """
    lists = [rows[: _LOOKED_AT * most] for rows in lists]
    places = np.unique(np.concatenate([np.empty(0, np.int64), *lists]))
    ids_a, ids_b = pairs.ids(places)
    if pairs.two_sided:
        a, b = number_ids(ids_a), number_ids(ids_b)
    else:
        a, b = np.split(number_ids(pa.concat_arrays([ids_a, ids_b])), 2)
    found = []
    for rows in lists:
        chosen: list[int] = []
        others: list[int] = []
        seen: set[tuple[str, int]] = set()
        for rank, row in enumerate(np.searchsorted(places, rows).tolist()):
            documents = {("a", int(a[row])), ("b" if pairs.two_sided else "a", int(b[row]))}
            (others if documents & seen else chosen).append(rank)
            seen |= documents
            if len(chosen) == most:
                break
        found.append([int(rows[rank]) for rank in sorted([*chosen, *others][:most])])
    return found


def make_groups(
    pairs: PairsTable, looked_at: LookedAt, chosen: Sequence[Chosen], find_text: FindText
) -> list[Group]:
    """Put the pairs beside each other whose texts are known, and list the others."""
    groups = []
    for group in chosen:
        examples: list[Example] = []
        lines: list[tuple[str, ...]] = []
        rows = [looked_at[place] for place in group.rows]
        listed = [(row["a"], row["b"], row) for row in rows]
        for id_a, id_b, row in [*listed, *((a, b, None) for a, b in group.ids)]:
            note = "not in the table" if row is None else describe(pairs, row)
            found_a, found_b = find_text("a", id_a), find_text("b", id_b)
            if found_a is None or found_b is None:
                found_a, found_b = _columns_as_texts(pairs, row)
            name_a, name_b = (shortened(each) for each in (id_a, id_b))
            if found_a is None or found_b is None:
                lines.append((name_a, name_b, note))
                continue
            (text_a, place_a), (text_b, place_b) = found_a, found_b
            differences = side_by_side(text_a[:MOST_CHARACTERS], text_b[:MOST_CHARACTERS])
            title = note if row is None else _title(pairs, row)
            examples.append(
                Example(
                    title, _values_of(pairs, row), name_a, name_b, place_a, place_b, differences
                )
            )
        lead = group.lead
        n_shown = len(examples) + len(lines)
        if group.n_in_all is not None and group.n_in_all > n_shown:
            lead += f" {n_shown:,} of {group.n_in_all:,} are shown."
        groups.append(Group(group.name, group.title, lead.strip(), examples, lines))
    return groups


def _title(pairs: PairsTable, row: Row) -> str:
    if pairs.by_distance:
        return f"distance {_whole(row['distance']):,}"
    if pairs.is_count:
        return f"{float(row['similarity']):g} shingles in common"
    return f"similarity {float(row['similarity']):.4f}"


def describe(pairs: PairsTable, row: Row) -> str:
    """Say how similar a pair is, in all that is known of it."""
    parts = [_title(pairs, row)]
    if pairs.has_intervals:
        low, high = (np.nan if row[name] is None else float(row[name]) for name in ("low", "high"))
        parts.append(f"between {low:.4f} and {high:.4f}")
    if pairs.score_name == "overlap" and not pairs.is_count:
        parts.append(f"{_whole(row['overlap']):,} shingles in common")
    return ", ".join(parts)


def _whole(value: Any) -> int:
    return 0 if value is None else int(value)


def _values_of(pairs: PairsTable, row: Row | None) -> str:
    """Say what is known of a pair beside its title, columns of both documents among it."""
    if row is None:
        return ""
    _, *parts = describe(pairs, row).split(", ", 1)
    for stem in pairs.stems:
        values = (row[f"{stem}_{side}"] for side in "ab")
        texts = ["none" if value is None else str(value) for value in values]
        cut = [text if len(text) <= 60 else f"{text[:59]}…" for text in texts]
        parts.append(f"{stem}: {' | '.join(cut)}")
    return "; ".join(parts)


def _columns_as_texts(
    pairs: PairsTable, row: Row | None
) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
    """Return the columns of both documents as two texts; none if the table has none."""
    if row is None or not pairs.stems:
        return None, None
    lines_a: list[str] = []
    lines_b: list[str] = []
    for stem in pairs.stems:
        for lines, side in ((lines_a, "a"), (lines_b, "b")):
            value = row[f"{stem}_{side}"]
            lines.append(f"{stem}: {'' if value is None else value}")
    return ("\n".join(lines_a), ""), ("\n".join(lines_b), "")


@dataclass(frozen=True)
class Selection:
    """The pairs that are shown beside each other: examples, and errors by labels.

    ``looked_at`` has what the table says of them.
    """

    examples: Sequence[Chosen]
    errors: Sequence[Chosen]
    looked_at: LookedAt

    def ids(self) -> tuple[set[str], set[str]]:
        """Return the ids of the documents a and b of all of them."""
        others = [pair for group in (*self.examples, *self.errors) for pair in group.ids]
        rows = self.looked_at.values()
        return (
            {row["a"] for row in rows} | {a for a, _ in others},
            {row["b"] for row in rows} | {b for _, b in others},
        )


def select_examples(pairs: PairsTable, labelled: Labelled | None) -> Selection:
    """Choose the pairs whose texts the page needs."""
    examples = choose_rows(pairs) if len(pairs) else []
    errors: list[Chosen] = []
    best = None if labelled is None else labelled.evaluation.best
    if labelled is not None and best is not None:
        above = "At the best threshold or above, and not the same by the labels."
        below = "The same by the labels, and below the best threshold."
        lists = [labelled.wrong(best), labelled.missed(best)]
        few = few_of(pairs, lists, MOST_ERRORS)
        for name, title, lead, rows, chosen in (
            ("wrong", "Found, but wrong", above, lists[0], few[0]),
            ("missed", "Right, but missed", below, lists[1], few[1]),
        ):
            errors.append(Chosen(name, title, lead, chosen, n_in_all=len(rows)))
    if labelled is not None and labelled.n_missing:
        lead = "The same by the labels, and in no row of the table."
        ids, title = labelled.missing[:MOST_ERRORS], "Right, but not in the table"
        errors.append(Chosen("missing", title, lead, [], ids, labelled.n_missing))
    places = [place for group in (*examples, *errors) for place in group.rows]
    return Selection(examples, errors, pairs.look(np.array(places, np.int64)))


def render_pairs(
    pairs: PairsTable,
    labelled: Labelled | None,
    selection: Selection,
    find_text: FindText,
    advice: str,
) -> Report:
    """Make the page; ``advice`` says what to do where texts are not known."""
    partners = partners_of(pairs) if len(pairs) else []
    groups = make_groups(pairs, selection.looked_at, selection.examples, find_text)
    errors = make_groups(pairs, selection.looked_at, selection.errors, find_text)
    lacks = any(group.lines for group in [*groups, *errors])
    html = render_page(
        "pairs.html",
        title=heading(pairs),
        contents=[
            ("section-similarities", "Similarities"),
            ("section-partners", "Partners"),
            ("section-labels", "Labels", labelled),
            ("section-examples", "Examples"),
        ],
        heading=heading(pairs),
        leads=sentences(pairs, partners),
        facts=_facts(pairs, partners, labelled),
        n_pairs=len(pairs),
        similarity_chart=similarity_chart(pairs) if len(pairs) else None,
        partners=partners,
        labelled=_labels(pairs, labelled),
        groups=groups,
        errors=errors,
        advice=advice if lacks else "",
    )
    examples = [each for group in (*errors, *groups) for each in group.examples]
    notes = () if labelled is None else labelled.notes()
    return Report(html, heading(pairs), notes, examples)


def _facts(
    pairs: PairsTable, partners: Sequence[Partners], labelled: Labelled | None
) -> list[tuple[str, ...]]:
    facts: list[tuple[str, ...]] = [(f"{len(pairs):,}", "pairs")]
    if "similar_pairs" in pairs.summary:
        facts.append((f"{pairs.summary['similar_pairs']:,}", "pairs before matching one to one"))
    for each in partners:
        side = f" of side {each.side}" if each.side else ""
        facts.append((f"{each.n_documents:,}", f"documents{side} in a pair"))
    best = None if labelled is None else labelled.evaluation.best
    if labelled is None or best is None:
        return facts
    found = labelled.evaluation
    name = "best distance" if pairs.by_distance else "best threshold"
    return [
        *facts,
        (f"{abs(found.round_threshold(best)):g}", name),
        (percent(float(found.precisions[best])), "precision there"),
        (percent(float(found.recalls[best])), "recall there"),
        (f"{found.f1_scores[best]:.3f}", "F1 there"),
    ]


def _labels(pairs: PairsTable, labelled: Labelled | None) -> dict[str, object] | None:
    """Return what the section about labels shows."""
    if labelled is None:
        return None
    chart = curve_chart(pairs, labelled)
    head = ["distance" if pairs.by_distance else "threshold", "pairs", "right", "wrong", "missed"]
    rows = []
    found, sign = labelled.evaluation, -1 if pairs.by_distance else 1
    points = [] if chart is None else [float(row[0]) for row in chart.table.rows]
    step = max(1, -(-len(points) // 20))
    best = None if found.best is None else abs(found.round_threshold(found.best))
    for point in sorted({*points[::step], *([] if best is None else [best])}):
        place = found.at(sign * point)
        if place is None:
            continue
        n, n_correct = int(found.n_found[place]), int(found.n_correct[place])
        counts = (n, n_correct, n - n_correct, found.n_right - n_correct)
        shares = (found.precisions[place], found.recalls[place], found.f1_scores[place])
        is_best = " (best)" if point == best else ""
        rows.append(
            (f"{point:g}{is_best}", *(f"{c:,}" for c in counts), *(f"{s:.3f}" for s in shares))
        )
    return {
        "sentences": labels_sentences(pairs, labelled),
        "chart": chart,
        "head": [*head, "precision", "recall", "F1"],
        "rows": rows,
    }
