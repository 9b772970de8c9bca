"""The page of an index: what came, went and stayed by addition, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction

from neardup.indexes.history import Entry
from neardup.indexes.manifest import Manifest, SegmentRecord, kind_of_manifest, segment_bytes
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

_COLUMNS = [
    *("when (UTC)", "what", "came", "stayed", "went for others", "denied", "removed"),
    *("documents then", "denied in all", "segments", "size"),
]


def index_report(name: str, manifest: Manifest, history: Sequence[Entry]) -> Report:
    """Make the page of an index of a name, from what its manifest and its history say."""
    kind = kind_of_manifest(manifest)
    changes = [each for each in history if each.kind != "merge"]
    headline = f"{shortened(name)}: an index of {counted(manifest.n_documents, 'document')}"
    n_denied = 0 if manifest.denied is None else manifest.denied.n_documents
    total = _total(history)
    facts = [
        (f"{manifest.n_documents:,}", "documents that are found", "kept"),
        (f"{_came(total):,}", "documents that came, as far as is noted"),
        (f"{total.gone:,}", "went for others", "gone"),
        (f"{total.removed:,}", "removed again", "gone"),
        (f"{n_denied:,}", "denied: they must not come back"),
        (f"{len(manifest.segments):,}", "segments"),
        (size(manifest.n_bytes), "on the disk"),
    ]
    # An index of passages knows of no others, and denies nothing.
    if kind == "passages":
        facts = [fact for number, fact in enumerate(facts) if number not in (2, 4)]
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
        sentences=_sentences(manifest, history),
        facts=facts,
        chart=_drawn(changes) if changes else None,
        columns=_COLUMNS,
        changes=_listed(changes),
        segments=[_segment(each) for each in manifest.segments[-_MOST_SEGMENTS:]],
        n_segments=len(manifest.segments),
        options=options,
        foot=how_it_was_made(),
    )
    return Report(html, headline)


def _total(entries: Sequence[Entry]) -> Entry:
    """Add up what changes did."""
    names = [field.name for field in fields(Entry) if field.name not in ("kind", "at")]
    return Entry("", **{name: sum(getattr(each, name) for each in entries) for name in names})


def _stayed(entry: Entry) -> int:
    return entry.added + entry.inserted


def _came(entry: Entry) -> int:
    return _stayed(entry) + entry.gone + entry.left_out


def _sentences(manifest: Manifest, history: Sequence[Entry]) -> list[str]:
    total = _total(history)
    found = []
    if history:
        n_changes = sum(each.kind != "merge" for each in history)
        known = f"In {counted(n_changes, 'change')} since {_when(history[0])},"
        found.append(
            f"{known} {counted(_came(total), 'document')} came: {_stayed(total):,} to stay, "
            f"{total.gone:,} that went for others, {total.left_out:,} left out as denied; and "
            f"{total.removed:,} went again, removed."
        )
    waiting = manifest.tail
    n_waiting = waiting.n_documents if waiting else 0
    if waiting is not None:
        found.append(
            f"Inserted one by one since then, and not in a segment yet: {n_waiting:,}, beside "
            f"{waiting.n_gone:,} that went for others."
        )
    n_more = manifest.n_documents - n_waiting - _stayed(total) + total.removed
    if n_more:
        found.append(
            f"The history does not tell of {counted(abs(n_more), 'document')} that "
            f"{'came' if n_more > 0 else 'went'}: before it began, or by a neardup that keeps none."
        )
    return found or ["Nothing was added yet."]


def _drawn(changes: Sequence[Entry]) -> Chart:
    """Draw what became of the documents of additions, the last ones."""
    additions = [each for each in changes if _came(each)][-_MOST_BARS:]
    total = _total(additions)
    came = _came(total)
    share = f"{percent(_stayed(total) / came)} of what came stayed." if came else "None came."
    return bars(
        "additions",
        "What became of what came, by addition",
        f"The last {counted(len(additions), 'addition')}, the first of them at the top: {share}",
        ["stayed", "went for others", "denied"],
        [(_when(each), (_stayed(each), each.gone, each.left_out)) for each in additions],
        head="addition",
    )


def _listed(changes: Sequence[Entry]) -> list[Sequence[str]]:
    """List the last changes, and in front of them all others as one."""
    first = max(0, len(changes) - _MOST_CHANGES)
    rows = [_row(each) for each in changes[first:]]
    if first:
        last = changes[first - 1]
        cells = _cells(_total(changes[:first]))
        rows.insert(0, (f"until {_when(last)}", counted(first, "change"), *cells, *_state(last)))
    return rows


def _row(entry: Entry) -> Sequence[str]:
    return (_when(entry), _KINDS.get(entry.kind, entry.kind), *_cells(entry), *_state(entry))


def _cells(entry: Entry) -> Sequence[str]:
    numbers = _came(entry), _stayed(entry), entry.gone, entry.left_out, entry.removed
    return [f"{number:,}" for number in numbers]


def _state(entry: Entry) -> Sequence[str]:
    numbers = entry.documents, entry.denied, entry.segments
    return [*(f"{number:,}" for number in numbers), size(entry.bytes)]


def _when(entry: Entry) -> str:
    return entry.at.removesuffix("+00:00").replace("T", " ")


def _segment(record: SegmentRecord) -> Sequence[str]:
    n_lost = record.removed.n_documents if record.removed else 0
    numbers = record.n_documents - n_lost, n_lost, record.n_tokens
    return [record.name, *(f"{number:,}" for number in numbers), size(segment_bytes([record]))]


def _option(key: str, value: object) -> str:
    """Write an option of the scheme, a share as it was given."""
    if key in ("threshold", "recall"):
        return f"{float(Fraction(str(value))):g}"
    return written(value)
