"""Section ``limits``: cases that neardup is slow at, each beside what it is slow against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.corpora.files import made_up_collection, near_copies, small_collection, ten_lines
from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.jobs import (
    Job,
    Settings,
    dedup_job,
    peer_job,
    report_of,
    script_command,
    script_environment,
)
from benchmarks.measuring.markdown import megabytes
from benchmarks.measuring.processes import Measurement, measure

if TYPE_CHECKING:
    from benchmarks.measuring.results import Tables

REPEATS = 3

IN_PYTHON = """
import json, re, sys, neardup
tokenizer = re.compile(r"\\w+").findall if sys.argv[2] == "function" else "words"
text = neardup.TextOptions(tokenizer=tokenizer)
print(json.dumps(neardup.deduplicate(sys.argv[1], text=text).summary))
"""


def run(settings: Settings) -> Tables:
    """Measure all cases."""
    cases = [
        _tiny_input(settings),
        *_beside_rensa(settings),
        *_just_below(settings),
        _python_function(settings),
    ]
    return {"Where neardup loses": cases}


def _tiny_input(settings: Settings) -> dict[str, Any]:
    repeats = settings.repeats(REPEATS)
    own = dedup_job(settings, ten_lines()).measure(repeats)
    other = peer_job(settings, "rensa", ten_lines(), 16, 6, "--verify", "0.8").measure(repeats)
    return _case("ten lines", own, "rensa, verified", other)


def _beside_rensa(settings: Settings) -> list[dict[str, Any]]:
    """Measure the same job with rensa, and the least that rensa asks of a user; one thread each."""
    source = made_up_collection(settings)
    repeats = settings.repeats(REPEATS)
    name = f"made-up documents, {source.stat().st_size // 10**6} MB, one thread"
    own = dedup_job(settings, source, "--id-column", "id", "--workers", "1").measure(repeats)
    bands, rows = report_of(own)["bands"], report_of(own)["rows"]
    same = peer_job(settings, "rensa", source, bands, rows, "--workers", "1").measure(repeats)
    target = cache_folder() / "output-rensa.jsonl"
    command = script_command(settings.peers, "peers/rensa_readme.py", str(source), str(target))
    shown = Job(command, target, script_environment()).measure(repeats)
    return [
        _case(name, own, "rensa, plain", same),
        _case(name, own, "rensa as its page shows it, words for shingles", shown),
    ]


def _just_below(settings: Settings) -> list[dict[str, Any]]:
    """Measure near-copies whose similarities lie on both sides of the threshold, mostly below."""
    source = near_copies(2_000 if settings.quick else 10_000)
    usual = dedup_job(settings, source).measure(settings.repeats(REPEATS))
    cases = []
    for threshold in ("0.9", "0.95"):
        job = dedup_job(settings, source, "--threshold", threshold)
        measured = job.measure(settings.repeats(REPEATS))
        documents = report_of(measured)["documents_in"]
        label = f"{documents:,} near-copies, threshold {threshold}"
        cases.append(_case(label, measured, "the same, threshold 0.8", usual))
    return cases


def _python_function(settings: Settings) -> dict[str, Any]:
    results = {}
    for tokenizer in ("words", "function"):
        command = [str(settings.python), "-c", IN_PYTHON, str(small_collection()), tokenizer]
        results[tokenizer] = measure(command, repeats=settings.repeats(REPEATS), warm_up=True)
    own, other = results["function"], results["words"]
    return _case("20 MB, words cut by a Python function", own, "the same, `words`", other)


def _case(name: str, own: Measurement, other_name: str, other: Measurement) -> dict[str, Any]:
    return {
        "case": name,
        "wall s": own.wall,
        "peak MB": megabytes(own.peak_process),
        "pairs compared": report_of(own)["candidates"],
        "against": other_name,
        "its wall s": other.wall,
        "its peak MB": megabytes(other.peak_process),
        "times as long": own.wall / other.wall,
    }
