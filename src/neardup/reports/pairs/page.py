"""The page of a table of pairs, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.reports.page import percent, render_page
from neardup.reports.pairs.examples import Chosen, FindText, choose_rows, few_of, make_groups
from neardup.reports.pairs.labelled import MOST_ERRORS, Labelled, curve_chart
from neardup.reports.pairs.partners import Partners, partners_of
from neardup.reports.pairs.similarities import similarity_chart
from neardup.reports.pairs.table import PairsTable
from neardup.reports.pairs.wording import heading, labels_sentences, sentences
from neardup.tables import Int64s


@dataclass(frozen=True)
class Selection:
    """The pairs that are shown beside each other: examples, and errors by labels."""

    examples: Sequence[Chosen]
    errors: Sequence[Chosen]

    @property
    def every(self) -> list[Chosen]:
        """All of them."""
        return [*self.examples, *self.errors]


def select_examples(pairs: PairsTable, labelled: Labelled | None) -> Selection:
    """Choose the pairs whose texts the page needs."""
    return Selection(choose_rows(pairs) if len(pairs) else [], _errors(pairs, labelled))


def _errors(pairs: PairsTable, labelled: Labelled | None) -> list[Chosen]:
    if labelled is None:
        return []
    found = []
    best = labelled.evaluation.best
    if best is not None:
        wrong, missed = labelled.wrong(best), labelled.missed(best)
        lead = "At the best threshold or above, and not the same by the labels."
        found.append(_group(pairs, "wrong", "Found, but wrong", lead, wrong))
        lead = "The same by the labels, and below the best threshold."
        found.append(_group(pairs, "missed", "Right, but missed", lead, missed))
    if labelled.n_missing:
        lead = "The same by the labels, and in no row of the table."
        ids = labelled.missing[:MOST_ERRORS]
        title = "Right, but not in the table"
        found.append(Chosen("missing", title, lead, [], ids, labelled.n_missing))
    return found


def _group(pairs: PairsTable, name: str, title: str, lead: str, rows: Int64s) -> Chosen:
    few = few_of(pairs, rows, MOST_ERRORS)
    return Chosen(name, title, lead, few, n_in_all=len(rows))


def render_pairs(
    pairs: PairsTable,
    labelled: Labelled | None,
    selection: Selection,
    find_text: FindText,
    advice: str,
) -> str:
    """Make the page.

    Parameters
    ----------
    pairs, labelled, selection
        What it shows.
    find_text
        Returns text and place of a document that is shown, None if they are not known.
    advice
        What to do where texts are not known; empty if all were asked for.
    """
    partners = partners_of(pairs) if len(pairs) else []
    groups = make_groups(pairs, selection.examples, find_text)
    errors = make_groups(pairs, selection.errors, find_text)
    contents = [("similarities", "Similarities"), ("partners", "Partners")]
    contents += [("labels", "Labels")] if labelled else []
    contents.append(("examples", "Examples"))
    lacks = any(group.lines for group in [*groups, *errors])
    return render_page(
        "pairs.html",
        title=heading(pairs),
        contents=[(f"section-{key}", name) for key, name in contents],
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
