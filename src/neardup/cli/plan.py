"""``neardup plan``: bands, rows and the S-curve; what a job would find and take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from neardup.cli import wording
from neardup.cli.call import Call
from neardup.cli.command import ANY_INPUTS, TableCommand, options_of
from neardup.cli.wording import list_passed_over
from neardup.runs.progress import counted, size

if TYPE_CHECKING:
    from neardup.jobs.plan import JobForecast
    from neardup.matching.bands import BandChoice
    from neardup.stages.forecasts import StagesForecast
    from neardup.stages.plan import DedupPlan

# What ``neardup plan`` prints of a forecast.

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
    most = size(estimate.memory_at_most_bytes)
    memory = f"{most} if every document has a near-duplicate"
    if not estimate.fits_in_memory:
        memory = (
            f"--memory {size(estimate.memory_limit_bytes)} is too little to keep everything there, "
            f"which takes {size(estimate.memory_needed_bytes)}"
        )
    temporary = size(estimate.temporary_bytes) if estimate.temporary_bytes else "none"
    counting = "estimated from the places that were read"
    if estimate.documents_counted:
        counting = "counted"
    listed = ", ".join(f"{job} {size(n_bytes)}" for job, n_bytes in estimate.other_jobs.items())
    lines = [
        "",
        f"{counted(estimate.documents, 'document')}, {size(estimate.text_bytes)} of text; judged "
        f"by {estimate.sample_documents:,} of them:",
        f"  documents were {counting}",
    ]
    # What figures rest on where INPUT stands for more, and which of them cannot be true.
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
    lines += [
        f"  similar pairs     about {estimate.pairs_similar:,.0f}",
        f"  false candidates  about {counted(round(estimate.pairs_false), 'pair')} compared in "
        "vain",
        f"  to compare        about {estimate.candidates:,} share a bucket, "
        f"{estimate.compared_documents:,} are left by filters",
        f"  memory            {size(estimate.memory_bytes)}; {memory}",
        f"  disk              about {size(estimate.disk_bytes)} for the output, {temporary} for "
        "temporary files",
        f"  time              {_time(estimate.seconds)}",
    ]
    if spark := estimate.on_executors:
        lines.append(
            f"  time on Spark     {_time(spark['seconds'])} on "
            f"{counted(spark['executors'], 'executor')} of "
            f"{counted(spark['executor_cores'], 'core')}, which exchange "
            f"{size(spark['exchanged_bytes'])}"
        )
    if found := estimate.cheaper_bands:
        lines.append(
            f"  cheaper           --num-perm {found['num_perm']}: "
            f"{counted(found['bands'], 'band')} of {counted(found['rows'], 'row')}, "
            f"{found['work_seconds']:,.0f} instead of {found['instead_of_work_seconds']:,.0f} s of "
            f"one core for sketches and false candidates, of which {found['pairs_false']:,.0f} "
            "remain"
        )
    lines += ["", *_stages(estimate.stages), "", f"  in memory alone   {listed}"]
    lines += _shingle_lengths(estimate.shingle_lengths, ngram)
    return "\n".join(lines + list_passed_over(estimate.passed_over))


def _time(seconds: float) -> str:
    return f"about {_duration(seconds)}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.1f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def tell_stages(call: Call, found: StagesForecast, *, may_have_texts: bool = False) -> None:
    """Print what the job of a command would take, which was asked for in place of running it.

    Texts that rows of the output may have are not reckoned with.
    """
    output = "the output without texts" if may_have_texts else "the output"
    temporary = size(found.temporary_bytes) if found.temporary_bytes else "none"
    counting = "counted" if found.documents_counted else "estimated from what was read"
    memory = f"{size(found.memory_bytes)} with --memory {size(found.memory_limit_bytes)}"
    names = {name: name.replace("_", " ") for name in found.counts}
    width = max(len("memory"), *map(len, names.values())) + 2

    def about(name: str, number: float, write: Callable[[float], str]) -> str:
        if name not in found.between:
            return f"about {write(number)}"
        low, high = found.between[name]
        return f"{write(low)} to {write(high)}, of too small a sample to tell more"

    told = [
        (names[name], about(name, number, "{:,}".format)) for name, number in found.counts.items()
    ]
    told += [
        ("memory", memory if found.executors is None else f"{memory} for the driver"),
        ("files", f"about {size(found.disk_bytes)} for {output}, {temporary} for temporary ones"),
        ("time", about("seconds", found.seconds, _duration)),
    ]
    if found.executors is not None:
        slots = counted(found.executors.slots, "task")
        told += [
            ("tasks", f"{slots} at a time, each of up to {size(found.task_bytes or 0)}"),
            ("exchanged", f"{size(found.exchanged_bytes or 0)} on the disks of executors"),
        ]
    lines = [
        f"{counted(found.documents, 'document')} ({counting}), {size(found.text_bytes)} of text; "
        f"judged by {found.sample_documents:,} of them:",
        *(f"  {name:<{width}}{value}" for name, value in told),
        "",
        *_stages([each.describe() for each in found.stages]),
        *list_passed_over(found.passed_over),
    ]
    call.tell(found.describe(), *lines)


def _stages(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    # On executors memory is that of the driver, and a task's is told beside it.
    columns = {"memory": "memory_bytes", "files": "temporary_bytes"}
    if stages and "task_bytes" in stages[0]:
        columns = {"driver": "memory_bytes", "task": "task_bytes", "exchanged": "exchanged_bytes"}
    rows = [("stage", *columns, "time", "what takes it")]
    rows += [
        (
            each["stage"],
            *(size(each[name]) for name in columns.values()),
            _duration(each["seconds"]),
            each.get("content") or _CONTENTS[each["stage"]],
        )
        for each in stages
    ]
    n = len(rows[0]) - 1
    widths = [max(len(row[i]) for row in rows) for i in range(n)]
    return [
        f"  {row[0]:<{widths[0]}}  "
        + "  ".join(f"{row[i]:>{widths[i]}}" for i in range(1, n))
        + f"  {row[n]}"
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


_EPILOG = """\b
Examples:
  neardup plan --threshold 0.7 --recall 0.95
  neardup plan corpus/*.jsonl.zst --num-perm 256
  neardup plan sample.parquet --input-size 5TB --executors 50
"""
_BAR = 40
_OF_INPUT = ("documents", "input_size", "memory", "executors", "executor_cores", "workers")


@click.command(
    "plan", cls=TableCommand, epilog=_EPILOG, short_help="Show what a job would find and take."
)
@ANY_INPUTS
@options_of("plan")
def command(call: Call) -> None:
    """Show what `neardup dedup` would do with the same options.

    Prints the bands and rows chosen and the S-curve: the probability that two documents of a given
    Jaccard similarity are compared, where it is steepest, and what other numbers of hash functions
    would give. With INPUT also what its documents, judged by a sample, would take in comparisons,
    memory, disk and time, also where they are a sample of a larger collection, and what other
    lengths of shingles would make of them.
    """
    from neardup.options.documents import DedupOptions
    from neardup.options.groups import DocumentOptions
    from neardup.options.option import no_effect
    from neardup.stages.plan import plan_deduplication

    documents, cores = call.documents, call.executor_cores
    context = click.get_current_context()
    for name in () if call.inputs else (*DocumentOptions.known, "keep", *_OF_INPUT):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise no_effect(name, "without INPUT", "name an input")
    if documents is not None and call.input_size is not None:
        raise no_effect("input_size", "with documents", "leave out documents", "documents")
    if cores is not None and call.executors is None:
        raise no_effect("executor_cores", "without executors", "give executors", "executors")
    plan = plan_deduplication(call.of(DedupOptions))
    estimate = None
    if call.inputs:
        from neardup.files.resolve import resolve_paths
        from neardup.jobs.plan import Planned, Resources, forecast_job
        from neardup.options.running import CommandOptions
        from neardup.reading.where import rows_where
        from neardup.stages.workspaces import memory_budget

        planned = Planned(documents, CommandOptions.known["input_size"].checked(call.input_size))
        workers, budget = call.runner.workers, memory_budget(call.memory)
        resources = Resources(budget, workers, call.executors, cores or 4)
        with call.display:
            sources = rows_where(resolve_paths(call.inputs, plan.options), plan.options.where)
            estimate = forecast_job(sources, plan, call.runner, resources, planned)
    facts = _facts(plan, estimate)
    lines = [*wording.say_preset(facts), _chart(plan)]
    if estimate is not None:
        lines.append(describe_forecast(estimate, plan.reading.shingles.ngram))
    call.tell(facts, *lines)


def _curve(plan: DedupPlan) -> list[tuple[float, float]]:
    points = sorted({*(i / 20 for i in range(2, 21)), float(plan.measure.least_jaccard)})
    return [(s, plan.banding.candidate_probability(s)) for s in points]


def _facts(plan: DedupPlan, estimate: JobForecast | None) -> dict[str, Any]:
    facts = {
        "measure": plan.measure.name,
        "threshold": float(plan.measure.threshold),
        "least_jaccard": float(plan.measure.least_jaccard),
        "recall": float(plan.recall),
        "predicted_recall": plan.predicted_recall,
        "bands": plan.banding.bands,
        "rows": plan.banding.rows,
        "steepest": plan.banding.steepest,
        "midpoint": plan.banding.midpoint,
        "num_perms": [
            {
                "num_perm": choice.num_perm,
                "bands": choice.banding.bands,
                "rows": choice.banding.rows,
                "predicted_recall": choice.predicted_recall,
                "steepest": choice.banding.steepest,
                "standard_error": choice.standard_error,
            }
            for choice in _choices(plan)
        ],
        "curve": [{"jaccard": s, "probability": p} for s, p in _curve(plan)],
        **plan.options.describe_preset(),
    }
    return facts if estimate is None else {**facts, "estimate": vars(estimate)}


def _choices(plan: DedupPlan) -> list[BandChoice]:
    """Return the bands that other numbers of hash functions would give; none if they are given."""
    from neardup.matching.bands import NUM_PERMS, list_choices

    if plan.options.bands is not None:
        return []
    numbers = sorted({*NUM_PERMS, _most_functions(plan)})
    return list_choices(plan.measure.least_jaccard, plan.recall, numbers)


def _most_functions(plan: DedupPlan) -> int:
    return plan.options.num_perm or 128


def _chart(plan: DedupPlan) -> str:
    """Draw the S-curve, one line for each similarity."""
    least = float(plan.measure.least_jaccard)
    lines = [
        f"{counted(plan.banding.bands, 'band')} of {counted(plan.banding.rows, 'row')}, "
        f"{counted(plan.banding.num_perm, 'hash function')}",
        f"a pair at {plan.measure.name} {plan.options.threshold} is compared with probability "
        f"{plan.predicted_recall:.4f}",
    ]
    if not plan.measure.is_jaccard:
        lines.append(f"such a pair has a Jaccard similarity of at least {least:.3f}")
    if plan.measure.size_ratio is not None:
        ratio = "twice" if plan.measure.size_ratio == 2 else f"{plan.measure.size_ratio} times"
        lines.append(f"if one document is at most {ratio} as large as the other")
    lines.append(
        f"the curve is steepest at {plan.banding.steepest:.3f}; half of the pairs are compared at "
        f"{plan.banding.midpoint:.3f}"
    )
    block = "█" if _can_print("█") else "#"
    lines += ["", "Jaccard  probability that a pair is compared"]
    for similarity, probability in _curve(plan):
        bar = block * round(_BAR * probability)
        mark = "  <- threshold" if similarity == least else ""
        lines.append(f"{similarity:7.3f}  {bar:<{_BAR}}  {probability:.4f}{mark}")
    return "\n".join([*lines, *_table_of_choices(plan)])


def _table_of_choices(plan: DedupPlan) -> list[str]:
    """Lay out what other numbers of hash functions would give, and mark the planned one."""
    choices = _choices(plan)
    if not choices:
        return []
    lower = 0.75 * float(plan.measure.least_jaccard)
    header = f"--num-perm  bands x rows  recall  steepest  compared at {lower:.3f}  std. error"
    lines = ["", header]
    for choice in choices:
        banding = choice.banding
        lines.append(
            f"{choice.num_perm:10}  {f'{banding.bands} x {banding.rows}':>12}"
            f"  {choice.predicted_recall:.4f}  {banding.steepest:8.3f}"
            f"  {banding.candidate_probability(lower):17.4f}  {choice.standard_error:10.4f}"
            f"{'  <-' if choice.num_perm == _most_functions(plan) else ''}"
        )
    return lines


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
