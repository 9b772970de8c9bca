"""Section ``dedup``: the whole process ``neardup dedup``, from file to folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpora.files import corpus, main_collection
from benchmarks.measuring.jobs import Settings, dedup_job, measure_summary
from benchmarks.measuring.markdown import MB, megabytes

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measuring.results import Tables

REPEATS = 5


def run(settings: Settings) -> Tables:
    """Measure the main corpus with default options and other cases beside it."""
    collection = main_collection(settings)
    cases: list[tuple[str, Path, tuple[str, ...]]] = [
        ("mixed", collection, ()),
        ("mixed", collection, ("--workers", "1")),
    ]
    if not settings.quick:
        cases.append(("mixed", collection, ("--threshold", "0.5")))
        cases += [(n, corpus(n), ()) for n in ("reviews", "instructions", "wikipedia", "licences")]
    rows = []
    for name, source, options in cases:
        job = dedup_job(settings, source, *options)
        counts = ("documents_in", "documents_removed")
        measured = measure_summary(job, settings.repeats(REPEATS), counts)
        size = source.stat().st_size
        row = {"corpus": name, "options": " ".join(options) or "default", "MB": megabytes(size)}
        row |= {"documents": measured["documents_in"], "removed": measured["documents_removed"]}
        row |= {"wall s": measured["wall"], "CPU s": measured["cpu"]}
        row |= {
            "MB/s": size / MB / measured["wall"],
            "peak MB": megabytes(measured["peak_process"]),
        }
        rows.append(row)
    return {"neardup dedup FILE -o FOLDER": rows}
