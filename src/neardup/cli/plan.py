"""``neardup plan``: bands, rows and the S-curve; what a job would find and take."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from neardup.cli.command import TableCommand
from neardup.cli.completion import complete_paths
from neardup.cli.display import Display, announce_compilation, say, say_json
from neardup.cli.options import options_of
from neardup.cli.wording import counted, list_passed_over

if TYPE_CHECKING:
    from neardup.jobs.dedup.forecast import JobForecast
    from neardup.jobs.dedup.plan import DedupPlan

_EPILOG = """\b
Examples:
  neardup plan --threshold 0.7 --recall 0.95
  neardup plan corpus/*.jsonl.zst --num-perm 256
"""
_BAR = 40


@click.command(
    "plan", cls=TableCommand, epilog=_EPILOG, short_help="Show what a job would find and take."
)
@click.argument("inputs", nargs=-1, metavar="[INPUT...]", shell_complete=complete_paths)
@options_of("plan")
def command(
    inputs: tuple[str, ...],
    workers: int | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what `neardup dedup` would do with the same options.

    Prints the bands and rows chosen and the S-curve: the probability that two documents of a given
    Jaccard similarity are compared. With INPUT also what its documents, judged by a sample, would
    take in comparisons, memory, disk and time.
    """
    announce_compilation(quiet=quiet)
    from neardup.jobs.dedup.plan import DedupOptions, plan_deduplication
    from neardup.runtime.runner import Runner

    if not inputs:
        _check_no_documents()
    plan = plan_deduplication(DedupOptions(**options))
    display = Display(quiet=quiet)
    runner = Runner(workers, display)
    estimate = None
    if inputs:
        from neardup.files.resolve import resolve_paths
        from neardup.jobs.dedup.forecast import forecast_job

        with display:
            estimate = forecast_job(resolve_paths(inputs, plan.options), plan, runner)
    if as_json:
        say_json(_facts(plan, estimate))
    elif not quiet:
        say(_chart(plan))
        if estimate is not None:
            say(_report(estimate))


def _check_no_documents() -> None:
    """Raise if an option about documents was given, of which there are none without INPUT."""
    from neardup.jobs.document_options import DocumentOptions
    from neardup.options.option import no_effect

    context = click.get_current_context()
    for name in (*(option.name for option in fields(DocumentOptions)), "workers"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise no_effect(name, "without INPUT", "name an input")


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
        "curve": [{"jaccard": s, "probability": p} for s, p in _curve(plan)],
    }
    return facts if estimate is None else {**facts, "estimate": vars(estimate)}


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
    block = "█" if _can_print("█") else "#"
    lines += ["", "Jaccard  probability that a pair is compared"]
    for similarity, probability in _curve(plan):
        bar = block * round(_BAR * probability)
        mark = "  <- threshold" if similarity == least else ""
        lines.append(f"{similarity:7.3f}  {bar:<{_BAR}}  {probability:.4f}{mark}")
    return "\n".join(lines)


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _report(estimate: JobForecast) -> str:
    low, high = (size / 1e6 for size in estimate.memory_bytes)
    quick, slow = estimate.seconds
    return "\n".join(
        [
            "",
            f"{counted(estimate.documents, 'document')}, "
            f"{estimate.text_bytes / 1e6:,.1f} MB of text; "
            f"judged by {estimate.sample_documents:,} of them:",
            f"  similar pairs     about {estimate.pairs_similar:,.0f}",
            f"  false candidates  about {counted(round(estimate.pairs_false), 'pair')} compared in "
            "vain",
            f"  memory            {low:,.0f} to {high:,.0f} MB, more the more documents have "
            "near-duplicates",
            f"  disk              about {estimate.disk_bytes / 1e6:,.1f} MB for the output",
            f"  time              about {quick:.1f} to {slow:.1f} s, once kernels are compiled",
            *list_passed_over(estimate.passed_over),
        ]
    )
