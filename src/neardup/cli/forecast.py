"""What ``neardup plan`` prints of a forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.cli.wording import counted, list_passed_over
from neardup.runtime.progress import size

if TYPE_CHECKING:
    from neardup.jobs.dedup.forecast import JobForecast

# A document of no usual collection is similar to so many others, in the mean: templates would have
# to be all of it.
_ABSURD = 1000

# What is worth its memory or disk in a stage.
_CONTENTS = {
    "read": "digests, band keys, filters, ids",
    "bucket": "keys of candidates, brought together",
    "sieve": "a partition's keys and filters a thread",
    "compare": "texts that filters leave, read again",
    "choose": "a partition's shingle sets a thread",
    "write": "who gives way to whom; rows copied",
}


def describe_forecast(estimate: JobForecast, ngram: int) -> str:
    """Return the forecast of a job with so many tokens in a shingle as lines of text."""
    return "\n".join(
        [
            "",
            f"{counted(estimate.documents, 'document')}, "
            f"{size(estimate.text_bytes)} of text; "
            f"judged by {estimate.sample_documents:,} of them:",
            "  documents were "
            + (
                "counted"
                if estimate.documents_counted
                else "estimated from the places that were read"
            ),
            *_doubts(estimate),
            f"  similar pairs     about {estimate.pairs_similar:,.0f}",
            f"  false candidates  about {counted(round(estimate.pairs_false), 'pair')} compared in "
            "vain",
            f"  to compare        about {estimate.candidates:,} share a bucket, "
            f"{estimate.compared_documents:,} are left by filters",
            f"  memory            {size(estimate.memory_bytes)}; {_memory(estimate)}",
            f"  disk              about {size(estimate.disk_bytes)} for the output, "
            f"{_temporary(estimate)}",
            f"  time              {_time(estimate.seconds)}",
            *_on_executors(estimate.on_executors),
            *_cheaper(estimate),
            "",
            *_stages(estimate),
            "",
            *_others(estimate.other_jobs),
            *_shingle_lengths(estimate.shingle_lengths, ngram),
            *list_passed_over(estimate.passed_over),
        ]
    )


def _doubts(estimate: JobForecast) -> list[str]:
    """Say what figures rest on where INPUT stands for more, and which of them cannot be true."""
    lines = []
    if estimate.growth > 1:
        lines.append(
            f"  INPUT stands for {estimate.growth:,.0f} times as much, and must be a random sample "
            "of it: rows drawn from everywhere, not the first ones"
        )
    if estimate.similar_to_each > _ABSURD:
        lines.append(
            f"  absurd: {estimate.similar_to_each:,.0f} similar documents for each one, as no "
            "usual collection has; INPUT is no random sample, or nearly all of it is one template"
        )
    return lines


def _memory(estimate: JobForecast) -> str:
    most = size(estimate.memory_at_most_bytes)
    if estimate.fits_in_memory:
        return f"{most} if every document has a near-duplicate"
    return (
        f"--memory {size(estimate.memory_limit_bytes)} is too little to keep everything there, "
        f"which takes {size(estimate.memory_needed_bytes)}"
    )


def _temporary(estimate: JobForecast) -> str:
    if not estimate.temporary_bytes:
        return "none for temporary files"
    return f"{size(estimate.temporary_bytes)} for temporary files"


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"about {seconds:,.1f} s"
    return f"about {seconds / 60:,.0f} min" if seconds < 7200 else f"about {seconds / 3600:,.1f} h"


def _on_executors(spark: dict[str, Any] | None) -> list[str]:
    if spark is None:
        return []
    executors, cores = spark["executors"], spark["executor_cores"]
    return [
        f"  time on Spark     {_time(spark['seconds'])} on {counted(executors, 'executor')} of "
        f"{counted(cores, 'core')}, which exchange {size(spark['exchanged_bytes'])}"
    ]


def _cheaper(estimate: JobForecast) -> list[str]:
    """Say which option would make the job less work, and how much."""
    found = estimate.cheaper_bands
    if found is None:
        return []
    return [
        f"  cheaper           --num-perm {found['num_perm']}: "
        f"{counted(found['bands'], 'band')} of {counted(found['rows'], 'row')}, "
        f"{found['work_seconds']:,.0f} instead of {found['instead_of_work_seconds']:,.0f} s of one "
        f"core for sketches and false candidates, of which {found['pairs_false']:,.0f} remain"
    ]


def _stages(estimate: JobForecast) -> list[str]:
    rows = [("stage", "memory", "files", "time", "what takes it")]
    rows += [
        (
            each["stage"],
            size(each["memory_bytes"]),
            size(each["temporary_bytes"]),
            _time(each["seconds"]).removeprefix("about "),
            _CONTENTS[each["stage"]],
        )
        for each in estimate.stages
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return [
        f"  {row[0]:<{widths[0]}}  "
        + "  ".join(f"{row[i]:>{widths[i]}}" for i in (1, 2, 3))
        + f"  {row[4]}"
        for row in rows
    ]


def _shingle_lengths(compared: list[dict[str, Any]], ngram: int) -> list[str]:
    """Say what other lengths of shingles would make of the documents, and mark the planned one."""
    if not compared:
        return []
    return [
        "",
        "  --ngram  in another document  similarity with 1 %, 5 % of the tokens changed",
        *(
            f"  {each['ngram']:7}  {each['chance']:19.4f}"
            f"  {each['similarity_at_1_percent']:.3f}, {each['similarity_at_5_percent']:.3f}"
            f"{'  <- planned' if each['ngram'] == ngram else ''}"
            for each in compared
        ),
    ]


def _others(jobs: dict[str, int]) -> list[str]:
    listed = ", ".join(f"{job} {size(n_bytes)}" for job, n_bytes in jobs.items())
    return [f"  in memory alone   {listed}"]
