"""Pages of indexes, of histories that are made up."""

from __future__ import annotations

from collections.abc import Callable

from neardup.index.store import Change, Manifest, PendingRecord, SegmentRecord
from neardup.reports.index import index_report
from neardup.runs.disk import FileRecord

FILE = FileRecord(1_234_567, "0123abcd")


def index_page(name: str, n_changes: int, n_segments: int, kind: str = "documents") -> str:
    """Make the page of an index of that many changes and segments."""
    segments = tuple(
        SegmentRecord(f"s{k}", 1000 + k, 10**6, {"a.npy": FILE}, k + 1) for k in range(n_segments)
    )
    denied = SegmentRecord("denied", 17, 9, {"digests.npy": FILE}) if n_segments else None
    pending = PendingRecord(1, 3, 1, 50, 1000) if n_segments > 1 else PendingRecord()
    scheme = {"kind": kind, "threshold": "4/5", "tokenizer": name, "columns": ["a", "b"]}
    kinds = ("add", "insert", "remove", "merge", "compact", "new kind")
    history = [
        Change(
            kinds[k % len(kinds)], k, 2 * k, k % 7, k % 3, k % 2, k + 1,
            f"2026-11-{1 + k % 28:02d}T10:15:{k % 60:02d}+00:00", 10 * k, k % 5, 1 + k % 9, 10**k,
        )
        for k in range(n_changes)
    ]  # fmt: skip
    manifest = Manifest(scheme, n_changes, 0, segments, denied=denied, pending=pending)
    return index_report(name, manifest, history).html


def index_cases(hostile: str, long: str) -> dict[str, Callable[[], str]]:
    """Return pages by name."""
    return {
        "index": lambda: index_page("seen", 12, 3),
        "index of many changes": lambda: index_page(long, 290, 120),
        "index of hostile names": lambda: index_page(hostile, 3, 1, "passages"),
        "index of nothing": lambda: index_page("", 0, 0),
    }
