"""The page of one document: why it stayed or went, beside the documents that decided it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.reports.charts import Curve, Measured, curves
from neardup.reports.differences import Example
from neardup.reports.page import render_page

# Pairs that are marked on the curve.
_MOST_MARKED = 8


@dataclass(frozen=True)
class SeenPair:
    """A pair of documents that bands could see: its resemblance, and the chance to meet."""

    name: str
    jaccard: float
    probability: float


@dataclass(frozen=True)
class BandCurve:
    """The chance to meet over the resemblance, and the pairs that are explained.

    ``points`` are of the curve; ``marked`` is a resemblance to draw a line at, and its label.
    """

    bands: int
    rows: int
    points: Sequence[tuple[float, float]]
    pairs: Sequence[SeenPair]
    marked: tuple[float, str] | None


@dataclass(frozen=True)
class ExplainPage:
    """All that the page shows, as plain data.

    Parameters
    ----------
    heading
        What became of the document, and why.
    leads
        Sentences below that.
    facts
        Figures that matter: (figure, what it is).
    excerpt
        The beginning of the text, where no other is beside it.
    keeper
        The document and the one that it went for, or should have gone for.
    asked, asked_about
        The document and the one that was asked about; sentences on it.
    gone, n_gone
        Rows of those that went for it: similarity, id, file, row; how many there are.
    closest, closest_lead, close_pairs
        Rows of the most similar ones that are not among those side by side: similarity, id, file,
        row, what decided; what was compared; the first ones, side by side.
    curve
        Where there are bands.
    chain
        Documents that link it to the one that it went for: similarity to the one before, id.
    options
        What has decided: option, value.
    notes
        What could not be found out.
    """

    heading: str
    leads: Sequence[str]
    facts: Sequence[tuple[str, str]]
    excerpt: str | None
    keeper: Example | None
    asked: Example | None
    asked_about: Sequence[str]
    gone: Sequence[tuple[object, ...]]
    n_gone: int
    closest: Sequence[tuple[object, ...]]
    closest_lead: str | None
    close_pairs: Sequence[Example]
    curve: BandCurve | None
    chain: Sequence[tuple[str, str]]
    options: Sequence[tuple[str, str]]
    notes: Sequence[str]


def render_explanation(page: ExplainPage) -> str:
    """Write the page."""
    chart = None
    if curve := page.curve:
        chart = curves(
            "bucket-chart",
            "The chance to share a bucket",
            f"{curve.bands:,} bands of {curve.rows:,} rows: two documents are compared only if "
            "they share a bucket in one band at least.",
            [Curve("two documents of this resemblance share a bucket", curve.points)],
            x_title="resemblance of two documents",
            y_title="probability",
            marked=curve.marked,
            measured=[
                Measured(pair.name, pair.jaccard, *[pair.probability] * 3)
                for pair in curve.pairs[:_MOST_MARKED]
            ],
        )
    return render_page(
        "explain.html",
        title=page.heading,
        contents=[
            ("asked", "The other document", page.asked_about),
            ("text", "What differs" if page.keeper else "The text"),
            ("chain", "How the two are linked", page.chain),
            ("gone", "What went for it", page.n_gone),
            ("closest", "Most similar documents", page.closest_lead is not None),
            ("buckets", "The chance to meet", page.curve),
            ("options", "How it was decided"),
        ],
        page=page,
        chart=chart,
    )
