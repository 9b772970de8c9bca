"""Examples of a deduplication as they are shown: two texts side by side, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from neardup.reports.charts.chart import shortened
from neardup.reports.dedup.examples import Document, KeptPairs, Kind, Pair
from neardup.reports.dedup.wording import counted, say_common, say_copies
from neardup.reports.differences import SideBySide, side_by_side
from neardup.reports.example import Example
from neardup.reports.page import MOST_OF_NAME

_KINDS: dict[Kind, tuple[str, str]] = {
    "least": (
        "Least similar of the removed",
        "Those nearest to the threshold. If these are no duplicates to you, choose a higher one.",
    ),
    "middle": (
        "In between",
        "Those nearest to halfway between the least similar one and an exact copy.",
    ),
    "most": ("Most similar, but no copy", "Those that are most like the one that stays."),
    "copies": ("An exact copy", ""),
}

_NO_TEXT = "No text is shown: only ids of the documents are known."
_ONE_TEXT = (
    "Only one text is shown: the texts of the other collection are not in the output, and "
    "--against names where they are."
)


class _Sides(NamedTuple):
    """What two documents of an example are, as headings and within sentences."""

    first: str
    second: str
    of_first: str
    of_second: str


_REMOVED = _Sides("Removed", "Stays", "the removed one", "the one that stays")
_KEPT = _Sides("Stays", "Stays", "the first", "the second")


@dataclass(frozen=True)
class ExampleGroup:
    """Examples of one kind, and what to make of them."""

    title: str
    lead: str
    examples: Sequence[Example]


def group_removals(
    examples: Mapping[Kind, Sequence[Pair]], summary: Mapping[str, Any]
) -> Iterator[ExampleGroup]:
    """Return removed documents with those that stay for them, by kind."""
    for kind, (title, lead) in _KINDS.items():
        if kind == "least" and summary["clusters"] == "components":
            lead = "Some are connected to the one that stays only by others between the two."
            if summary["measure"] == "containment":
                lead = "In some lies the one that stays; to some others between the two connect it."
        if pairs := examples.get(kind):
            if kind == "copies":
                lead = say_copies(summary["scheme"])
            yield ExampleGroup(title, lead, [_example(pair, _REMOVED, summary) for pair in pairs])


def group_kept_pairs(found: KeptPairs | str, summary: Mapping[str, Any]) -> Iterator[ExampleGroup]:
    """Return pairs of documents that both stay: missed ones, and those below the threshold."""
    if isinstance(found, str):
        return
    if found.missed:
        yield ExampleGroup(
            "Missed: both stay, and reach the threshold",
            _say_missed(summary),
            [_example(pair, _KEPT, summary) for pair in found.missed],
        )
    if found.below:
        yield ExampleGroup(
            "Both stay: just below the threshold",
            "If these are duplicates to you, choose a lower threshold.",
            [_example(pair, _KEPT, summary) for pair in found.below],
        )


def _say_missed(summary: Mapping[str, Any]) -> str:
    if summary["method"] == "pairs":
        return (
            "One of each pair would have been removed, had the table of pairs named it; pairs that "
            "are found with --method exact lack none."
        )
    which = "The later one" if summary["keep"] == "first" else "One"
    return (
        f"{which} of each pair would have been removed, had the two been compared. --method exact "
        "misses none, a higher --recall fewer."
    )


def _example(pair: Pair, sides: _Sides, summary: Mapping[str, Any]) -> Example:
    first, second = pair.first, pair.second
    known = [text for text in (first.text, second.text) if text is not None]
    if len(known) == 2:
        differences = side_by_side(*known)
        n_a, n_b = differences.n_only
        note = say_common(pair.common, summary) + (
            f"{counted(differences.n_common, 'word')} in both; {n_a:,} only in {sides.of_first}, "
            f"{n_b:,} only in {sides.of_second}."
        )
    else:
        differences = _one_sided(first.text, second.text)
        note = _ONE_TEXT if known else _NO_TEXT
    known_or_not = "not known" if pair.similarity is None else f"{pair.similarity:.4f}"
    return Example(
        f"similarity {known_or_not}",
        note,
        f"{sides.first}: {shortened(first.id, MOST_OF_NAME)}",
        f"{sides.second}: {shortened(second.id, MOST_OF_NAME)}",
        _place_of(first),
        _place_of(second),
        differences,
        sides is _KEPT,
    )


def _one_sided(first: str | None, second: str | None) -> SideBySide:
    """Show what is there, with nothing marked, as the other one is not known."""
    a, b = (side_by_side(text, text).a if text is not None else [] for text in (first, second))
    return SideBySide(a, b, 0, (0, 0), True)


def _place_of(document: Document) -> str:
    """Return where a document is."""
    if document.file is None:
        return "in the index"
    return f"{shortened(document.file, MOST_OF_NAME)}, row {document.row:,}"
