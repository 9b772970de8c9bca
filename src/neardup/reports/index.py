"""The page of an index: what came, went and stayed by addition, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from fractions import Fraction
from operator import attrgetter
from typing import NamedTuple

from neardup.index.store import Change, Manifest, SegmentRecord, segment_bytes
from neardup.reports.charts import Chart, bars
from neardup.reports.page import STYLES, Report, percent, render_page, shortened, written
from neardup.reports.passages.model import how_it_was_made
from neardup.runs.progress import counted, size

# Changes that are listed, the last ones; additions, and segments, that are drawn and listed.
_MOST_CHANGES, _MOST_BARS, _MOST_SEGMENTS = 200, 24, 100

_KINDS = {
    "add": "addition",
    "insert": "insertions",
    "remove": "removal",
    "compact": "compaction",
}


def _stayed(entry: Change) -> int:
    return entry.added + entry.inserted


def _came(entry: Change) -> int:
    return _stayed(entry) + entry.gone + entry.left_out


class _Number(NamedTuple):
    """A column of changes, and a part of the bars if that ``became`` of what came.

    Some say what the index held then, its ``is_state``, and all others what the change did; then
    ``fact`` is what all of that is called at the top of the page, and in which colour. An index of
    passages has nothing go for others and denies nothing: some numbers are ``of_documents`` alone.
    """

    name: str
    of: Callable[[Change], int]
    fact: tuple[str, ...] = ()
    became: bool = False
    is_state: bool = False
    of_documents: bool = False


_NUMBERS = (
    _Number("came", _came, ("documents that came, as far as is noted",)),
    _Number("stayed", _stayed, became=True),
    _Number(
        "went for others",
        attrgetter("gone"),
        ("went for others", "gone"),
        became=True,
        of_documents=True,
    ),
    _Number("denied", attrgetter("left_out"), became=True, of_documents=True),
    _Number("removed", attrgetter("removed"), ("removed again", "gone")),
    _Number("documents then", attrgetter("documents"), is_state=True),
    _Number("denied in all", attrgetter("denied"), is_state=True, of_documents=True),
    _Number("segments", attrgetter("segments"), is_state=True),
)


def index_report(name: str, manifest: Manifest, history: Sequence[Change]) -> Report:
    """Make the page of an index of a name, from what its manifest and its history say."""
    kind = manifest.kind
    changes = [each for each in history if each.kind != "merge"]
    headline = f"{shortened(name)}: an index of {counted(manifest.n_documents, 'document')}"
    total, is_of_documents = _total(history), kind == "documents"
    numbers = [each for each in _NUMBERS if is_of_documents or not each.of_documents]
    facts = [
        (f"{manifest.n_documents:,}", "documents that are found", "kept"),
        *((f"{each.of(total):,}", *each.fact) for each in numbers if each.fact),
    ]
    if is_of_documents:
        n_denied = 0 if manifest.denied is None else manifest.denied.n_documents
        facts.append((f"{n_denied:,}", "denied: they must not come back"))
    facts += [
        (f"{len(manifest.segments):,}", "segments"),
        (size(manifest.n_bytes), "on the disk"),
    ]
    options = [
        (key.replace("_", " "), _option(key, value))
        for key, value in manifest.scheme.items()
        if value not in (None, "", []) and key != "kind"
    ]
    html = render_page(
        "index.html",
        title=headline,
        contents=[
            ("changes", "What came and went"),
            ("segments", "Segments"),
            ("how", "How it is made"),
        ],
        styles=STYLES,
        kind=f"index of {kind}",
        sentences=_sentences(manifest, history, is_of_documents=is_of_documents),
        facts=facts,
        chart=_drawn(changes, [each for each in numbers if each.became]),
        columns=["when (UTC)", "what", *(each.name for each in numbers), "size"],
        changes=_listed(changes, numbers),
        segments=[_segment(each) for each in manifest.segments[-_MOST_SEGMENTS:]],
        n_segments=len(manifest.segments),
        options=options,
        foot=how_it_was_made(),
    )
    return Report(html, headline)


def _total(entries: Sequence[Change]) -> Change:
    """Add up what changes did."""
    names = [field.name for field in fields(Change) if field.name not in ("kind", "at")]
    return Change("", **{name: sum(getattr(each, name) for each in entries) for name in names})


def _sentences(
    manifest: Manifest, history: Sequence[Change], *, is_of_documents: bool
) -> list[str]:
    total = _total(history)
    found = []
    if history:
        n_changes = sum(each.kind != "merge" for each in history)
        came = f"{counted(_came(total), 'document')} came"
        if is_of_documents:
            came += (
                f": {_stayed(total):,} to stay, {total.gone:,} that went for others, "
                f"{total.left_out:,} left out as denied;"
            )
        found.append(
            f"In {counted(n_changes, 'change')} since {_when(history[0])}, {came} and "
            f"{total.removed:,} went again, removed."
        )
    waiting = manifest.pending
    if waiting.n_rows:
        found.append(
            "Inserted one by one since then, and not in a segment yet: "
            f"{waiting.n_documents:,}, beside {waiting.n_gone:,} that went for others."
        )
    return found or ["Nothing was added yet."]


def _drawn(changes: Sequence[Change], numbers: Sequence[_Number]) -> Chart | None:
    """Draw what became of the documents of additions, the last ones; None if there are none."""
    additions = [each for each in changes if _came(each)][-_MOST_BARS:]
    if not additions:
        return None
    total = _total(additions)
    share = percent(_stayed(total) / _came(total))
    return bars(
        "additions",
        "What became of what came, by addition",
        f"The last {counted(len(additions), 'addition')}, the first of them at the top: {share} of "
        "what came stayed.",
        [each.name for each in numbers],
        [(_when(entry), [each.of(entry) for each in numbers]) for entry in additions],
        head="addition",
    )


def _listed(changes: Sequence[Change], numbers: Sequence[_Number]) -> list[Sequence[str]]:
    """List the last changes, and in front of them all others as one."""
    first = max(0, len(changes) - _MOST_CHANGES)
    rows = [
        _row(_when(each), _KINDS.get(each.kind, each.kind), each, each, numbers)
        for each in changes[first:]
    ]
    if first:
        last = changes[first - 1]
        label = f"until {_when(last)}"
        rows.insert(
            0, _row(label, counted(first, "change"), _total(changes[:first]), last, numbers)
        )
    return rows


def _row(
    when: str, what: str, done: Change, then: Change, numbers: Sequence[_Number]
) -> Sequence[str]:
    """Return the cells of a change: what was done, and what the index held then."""
    cells = (each.of(then if each.is_state else done) for each in numbers)
    return [when, what, *(f"{cell:,}" for cell in cells), size(then.bytes)]


def _when(entry: Change) -> str:
    return entry.at.removesuffix("+00:00").replace("T", " ")


def _segment(record: SegmentRecord) -> Sequence[str]:
    n_lost = record.n_removed
    numbers = record.n_documents - n_lost, n_lost, record.n_tokens
    return [record.name, *(f"{number:,}" for number in numbers), size(segment_bytes([record]))]


def _option(key: str, value: object) -> str:
    """Write an option of the scheme, a share as it was given."""
    if key in ("threshold", "recall"):
        return f"{float(Fraction(str(value))):g}"
    return written(value)
