"""``neardup plan``: bands, rows and the S-curve; what a job would find and take."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from neardup.cli.command import TableCommand
from neardup.cli.completion import complete_paths
from neardup.cli.display import Display, say, say_json
from neardup.cli.forecast import describe_forecast
from neardup.cli.options import options_of
from neardup.cli.wording import counted

if TYPE_CHECKING:
    from neardup.jobs.dedup.forecast import JobForecast
    from neardup.jobs.dedup.plan import DedupPlan
    from neardup.matching.band_choices import BandChoice

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
@click.argument("inputs", nargs=-1, metavar="[INPUT...]", shell_complete=complete_paths)
@options_of("plan")
def command(
    inputs: tuple[str, ...],
    documents: int | None,
    input_size: str | None,
    memory: str | None,
    executors: int | None,
    executor_cores: int | None,
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what `neardup dedup` would do with the same options.

    Prints the bands and rows chosen and the S-curve: the probability that two documents of a given
    Jaccard similarity are compared, where it is steepest, and what other numbers of hash functions
    would give. With INPUT also what its documents, judged by a sample, would take in comparisons,
    memory, disk and time, also where they are a sample of a larger collection, and what other
    lengths of shingles would make of them.
    """
    from neardup.jobs.dedup.plan import DedupOptions, plan_deduplication
    from neardup.runtime.runner import Runner

    if not inputs:
        _check_no_documents()
    _check_planned(documents, input_size, executors, executor_cores)
    plan = plan_deduplication(DedupOptions(**options))
    display = Display(quiet=quiet)
    runner = Runner(workers, display)
    estimate = None
    if inputs:
        from neardup.files.resolve import resolve_paths
        from neardup.jobs.dedup.forecast import Planned, Resources, forecast_job
        from neardup.jobs.workspaces import memory_budget
        from neardup.options import table

        planned = Planned(
            documents, None if input_size is None else table.INPUT_SIZE.given(input_size)
        )
        resources = Resources(memory_budget(memory), runner.workers, executors, executor_cores or 4)
        with display:
            sources = resolve_paths(inputs, plan.options)
            estimate = forecast_job(sources, plan, runner, resources, planned)
    if as_json:
        say_json(_facts(plan, estimate))
    elif not quiet:
        say(_chart(plan))
        if estimate is not None:
            say(describe_forecast(estimate, plan.reading.shingles.ngram))


def _check_no_documents() -> None:
    """Raise if an option about documents was given, of which there are none without INPUT."""
    from neardup.jobs.document_options import DocumentOptions
    from neardup.options.option import no_effect

    context = click.get_current_context()
    for name in (*(option.name for option in fields(DocumentOptions)), "keep", *_OF_INPUT):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise no_effect(name, "without INPUT", "name an input")


def _check_planned(
    documents: int | None, input_size: str | None, executors: int | None, cores: int | None
) -> None:
    """Raise if an option was given that another one leaves without effect."""
    from neardup.options.option import no_effect

    if documents is not None and input_size is not None:
        raise no_effect("input_size", "with documents", "leave out documents", "documents")
    if cores is not None and executors is None:
        raise no_effect("executor_cores", "without executors", "give executors", "executors")


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
        "num_perms": [_choice_facts(choice) for choice in _choices(plan)],
        "curve": [{"jaccard": s, "probability": p} for s, p in _curve(plan)],
    }
    return facts if estimate is None else {**facts, "estimate": vars(estimate)}


def _choices(plan: DedupPlan) -> list[BandChoice]:
    """Return the bands that other numbers of hash functions would give; none if they are given."""
    from neardup.matching.band_choices import NUM_PERMS, list_choices

    if plan.options.bands is not None:
        return []
    numbers = sorted({*NUM_PERMS, _most_functions(plan)})
    return list_choices(plan.measure.least_jaccard, plan.recall, numbers)


def _most_functions(plan: DedupPlan) -> int:
    return plan.options.num_perm or 128


def _choice_facts(choice: BandChoice) -> dict[str, Any]:
    return {
        "num_perm": choice.num_perm,
        "bands": choice.banding.bands,
        "rows": choice.banding.rows,
        "predicted_recall": choice.predicted_recall,
        "steepest": choice.banding.steepest,
        "standard_error": choice.standard_error,
    }


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
