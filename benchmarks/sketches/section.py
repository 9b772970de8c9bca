"""Section ``sketches``: sketches made and compared, one thread, and 100,000 against as many."""

from __future__ import annotations

import json
import statistics
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.corpora.files import corpus
from benchmarks.measuring.figures import RATE_HEADER, megabytes, rate_row
from benchmarks.measuring.jobs import (
    Settings,
    neardup_job,
    own_report,
    report_of,
    report_of_script,
    run_script,
)
from benchmarks.measuring.markdown import table
from benchmarks.sketches.texts import collections

if TYPE_CHECKING:
    pass

CORPUS = "prose"
PASSES, REPEATS = 7, 3
VECTORS, QUICK_VECTORS = 500, 50
TEXTS, QUICK_TEXTS = 100_000, 5_000
THRESHOLD = "0.8"

# Megabytes of text a second by kind of work.
RATES = {
    "text to smallest sketches": 200,
    "text to modulo sketches": 200,
    "edit signatures": 500,
}
PAIRS_A_SECOND, PAPER_PAIRS = 100_000, 10_000
TIMES_DATASKETCH = 10
ESTIMATE_SECONDS = 60
# What is timed besides rates of text.
OTHER = ("comparisons", "weighted signatures")


def run(settings: Settings) -> dict[str, Any]:
    """Time kernels, a peer before and after them, and whole processes."""
    source, passes = str(corpus(CORPUS)), str(settings.repeats(PASSES))
    n_vectors = str(QUICK_VECTORS if settings.quick else VECTORS)
    script, arguments = "peers/datasketch_weighted.py", ("--vectors", n_vectors)
    before = report_of_script(settings.peers, script, *arguments)
    own = own_report(settings, "sketches/passes.py", source, "--passes", passes)
    after = report_of_script(settings.peers, script, *arguments)
    return {
        "corpus": CORPUS,
        "kernels": own,
        "datasketch": _together(before, after),
        "estimate": _estimate(settings),
    }


def _together(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    ways = before["seconds"]
    seconds = {way: ways[way] + after["seconds"][way] for way in ways}
    return {"vectors": before["vectors"], "seconds": seconds}


def _estimate(settings: Settings) -> dict[str, Any]:
    """Sketch two files, then compare the sketches, each as a whole process."""
    count = QUICK_TEXTS if settings.quick else TEXTS
    sources = collections(count)
    # Always made, as what is in them is to be reported; it takes seconds.
    facts = json.loads(run_script("sketches/texts.py", str(count)))
    workers = ("--workers", str(settings.cores))
    sketched = [
        neardup_job(
            settings,
            "sketch",
            f"{source.stem}.sketches.parquet",
            str(source),
            *("--id-column", "id"),
            *workers,
        )
        for source in sources
    ]
    made = sketched[0].measure(settings.repeats(REPEATS))
    for job in sketched:
        job.run()
    arguments = [*(str(job.output) for job in sketched), "--threshold", THRESHOLD, *workers]
    job = neardup_job(settings, "estimate", "estimate.parquet", *arguments)
    measured = job.measure(settings.repeats(REPEATS))
    sizes = [each.output.stat().st_size for each in sketched]
    for each in sketched:
        each.clear()
    return {
        **facts,
        "workers": settings.cores,
        "threshold": THRESHOLD,
        "sketch_bytes": sizes,
        "source_bytes": [source.stat().st_size for source in sources],
        "sketch": made.as_dict(),
        "estimate": measured.as_dict(),
        "summary": report_of(measured),
    }


def format_table(figures: dict[str, Any]) -> str:
    """Lay out rates of text, other rates, and the estimate of all pairs."""
    return "\n\n".join(
        [_format_text(figures), _format_other(figures), _format_estimate(figures["estimate"])]
    )


def _format_text(figures: dict[str, Any]) -> str:
    own = figures["kernels"]
    rows = [
        rate_row(figures["corpus"], work, own["text_bytes"], seconds, RATES.get(work))
        for work, seconds in own["seconds"].items()
        if work not in OTHER
    ]
    return table(RATE_HEADER, rows)


def _format_other(figures: dict[str, Any]) -> str:
    own, other = figures["kernels"], figures["datasketch"]
    pairs = own["pairs"] / statistics.median(own["seconds"]["comparisons"])
    vectors = own["vectors"] / statistics.median(own["seconds"]["weighted signatures"])
    ratio = pairs / PAPER_PAIRS
    beside = ("Coates 2011", PAPER_PAIRS, ratio, PAIRS_A_SECOND // PAPER_PAIRS)
    rows: list[tuple[object, ...]] = [
        ("pairs of edit signatures, c = 100", round(pairs), *beside, pairs >= PAIRS_A_SECOND)
    ]
    for way, seconds in other["seconds"].items():
        rate = other["vectors"] / statistics.median(seconds)
        ratio = vectors / rate
        beside = (f"datasketch, `{way}`", round(rate), ratio, TIMES_DATASKETCH)
        reached = ratio >= TIMES_DATASKETCH
        rows.append(("weighted signatures of 128", round(vectors), *beside, reached))
    header = ("work", "a second", "beside", "a second", "times as fast", "to reach", "reached")
    return table(header, rows)


def _format_estimate(figures: dict[str, Any]) -> str:
    made, measured = figures["sketch"], figures["estimate"]
    reached = measured["wall"] <= ESTIMATE_SECONDS
    size = megabytes(figures["sketch_bytes"][0])
    rows = [
        ("`neardup sketch` of one file", *_process(made), None, None),
        ("`neardup estimate` of both", *_process(measured), ESTIMATE_SECONDS, reached),
    ]
    header = ("work", "seconds", "CPU s", "peak MB", "at most, s", "reached")
    summary = figures["summary"]
    text = (
        f"Two files of {figures['texts']:,} texts, {megabytes(figures['source_bytes'][0])} MB "
        f"each, whose MinHash sketches take {size} MB; {figures['copies']:,} texts of the second "
        f"are near-copies, {summary['pairs']:,} pairs reach {figures['threshold']}, "
        f"{summary['estimated_pairs']:,} were estimated. {figures['workers']} workers."
    )
    return f"{table(header, rows)}\n\n{fill(text, 100)}"


def _process(measured: dict[str, Any]) -> tuple[object, ...]:
    return measured["wall"], measured["cpu"], megabytes(measured["peak_tree"])
