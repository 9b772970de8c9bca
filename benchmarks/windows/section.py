"""Section ``windows``: every sub-text of one text put into windows, in one thread."""

from __future__ import annotations

import statistics
from textwrap import fill
from typing import Any

from benchmarks.corpora.files import corpus
from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import table

CORPUS = "prose"
PASSES = 3
# Words, least tokens and weights; whether AllAlign does the same; what is to be reached.
CASES: tuple[tuple[int, int, str, bool], ...] = (
    (1_000_000, 1, "raw", False),
    (1_000_000, 50, "raw", False),
    (1_000_000, 50, "binary", False),
    (100_000, 1, "raw", True),
    (1_000_000, 1, "raw", True),
)
SECONDS, TIMES = 8.0, 20.0
FUNCTIONS, COMPARED_FUNCTIONS = 64, 16


def run(settings: Settings) -> dict[str, Any]:
    """List windows under all hash functions; under fewer where AllAlign does it too."""
    reports = []
    for tokens, min_tokens, tf, with_allalign in CASES:
        if settings.quick and tokens > 100_000:
            tokens = 100_000
        functions = COMPARED_FUNCTIONS if with_allalign else FUNCTIONS
        arguments = [
            str(corpus(CORPUS)),
            *("--tokens", str(tokens)),
            *("--min-tokens", str(min_tokens)),
            *("--tf", tf),
            *("--functions", str(4 if settings.quick else functions)),
            *("--passes", str(settings.repeats(PASSES))),
        ]
        if with_allalign:
            arguments.append("--allalign")
        reports.append(own_report(settings, "windows/partition.py", *arguments))
    return {"cases": reports}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out seconds for all functions, and AllAlign beside them."""
    alone = [case for case in figures["cases"] if "allalign" not in case]
    compared = [case for case in figures["cases"] if "allalign" in case]
    header = ("words", "at least", "tf", "functions", "windows a word and function", "seconds")
    text = table((*header, "of these partition", "at most", "reached"), map(_row, alone))
    header = ("words", "functions", "windows", "AllAlign's", "partition, s", "AllAlign, s")
    beside = table((*header, "times as long", "to reach", "reached"), map(_compared_row, compared))
    facts = {case["tokens"]: case for case in figures["cases"]}
    sizes = "; ".join(
        f"{tokens:,} words: {case['types']:,} different ones, the commonest "
        f"{case['greatest_frequency']:,} times"
        for tokens, case in sorted(facts.items())
    )
    return "\n\n".join([text, beside, fill(f"{CORPUS}, {sizes}.", 100)])


def _row(case: dict[str, Any]) -> tuple[object, ...]:
    seconds = statistics.median(case["neardup"]["seconds"])
    is_target = (case["tokens"], case["min_tokens"], case["tf"]) == CASES[0][:3]
    is_target = is_target and case["functions"] == FUNCTIONS
    partition = statistics.median(case["neardup"]["kernel_seconds"])
    return (
        case["tokens"],
        case["min_tokens"],
        case["tf"],
        case["functions"],
        case["neardup"]["windows"] / case["functions"] / case["tokens"],
        seconds,
        partition,
        SECONDS if is_target else None,
        partition <= SECONDS if is_target else None,
    )


def _compared_row(case: dict[str, Any]) -> tuple[object, ...]:
    # AllAlign's windows are not put in order, either.
    own = statistics.median(case["neardup"]["kernel_seconds"])
    other = statistics.median(case["allalign"]["seconds"])
    is_target = case["tokens"] == 100_000
    return (
        case["tokens"],
        case["functions"],
        case["neardup"]["windows"],
        case["allalign"]["windows"],
        own,
        other,
        other / own,
        TIMES if is_target else None,
        other / own >= TIMES if is_target else None,
    )
