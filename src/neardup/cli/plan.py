"""``neardup plan``: bands, rows and the S-curve of a threshold and a recall."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from neardup.cli.call import Call
from neardup.cli.command import job_command
from neardup.options.choices import DocumentMeasure, Number
from neardup.options.groups import MEASURE, THRESHOLD, BandOptions, PrintOptions
from neardup.options.option import Options, option
from neardup.runs.progress import counted

if TYPE_CHECKING:
    from neardup.matching.bands import BandChoice, Banding
    from neardup.matching.measures import Measure

_EPILOG = """\b
Examples:
  neardup plan --threshold 0.7 --recall 0.95
  neardup plan --measure containment --threshold 0.9 --num-perm 256
  neardup plan --threshold 0.7 --bands 20x5
"""
_BAR = 40


class PlanCommandOptions(Options):
    """Options of ``neardup plan``."""

    heading = "Matching"

    threshold: Number = option(THRESHOLD, default="0.8")
    measure: DocumentMeasure = option(MEASURE, default="jaccard")
    recall: Number | None = option(BandOptions.known["recall"], default=None)
    num_perm: int | None = option(BandOptions.known["num_perm"], default=None)
    bands: tuple[int, int] | str | None = option(BandOptions.known["bands"], default=None)
    json: bool = option(PrintOptions.known["json"], default=False)


@job_command("plan", PlanCommandOptions, epilog=_EPILOG)
def command(call: Call) -> None:
    """Show the bands and rows for a threshold and a recall.

    Prints the bands and rows that `neardup dedup` chooses with the same options, and the S-curve:
    the probability that two documents of a given Jaccard similarity are compared. It also prints
    where the curve is steepest, and the choices of other numbers of hash functions. Reads no input.
    """
    from neardup.matching.bands import NUM_PERMS, list_choices
    from neardup.matching.measures import make_measure
    from neardup.stages.options import choose_bands

    given: PlanCommandOptions = call.options
    options = given.part(BandOptions)
    measure = make_measure(given.measure, given.threshold)
    banding, _ = choose_bands(options, measure)
    num_perm = options.num_perm or 128
    choices = []
    if options.bands is None:
        numbers = sorted({*NUM_PERMS, num_perm})
        choices = list_choices(measure.least_jaccard, options.recall_asked_for, numbers)
    points = sorted({*(i / 20 for i in range(2, 21)), float(measure.least_jaccard)})
    curve = [(jaccard, banding.candidate_probability(jaccard)) for jaccard in points]
    facts = {
        "measure": measure.name,
        "threshold": float(measure.threshold),
        "least_jaccard": float(measure.least_jaccard),
        "recall": float(options.recall_asked_for),
        "predicted_recall": _predicted_recall(measure, banding),
        "bands": banding.bands,
        "rows": banding.rows,
        "steepest": banding.steepest,
        "midpoint": banding.midpoint,
        "num_perms": [_describe_choice(choice) for choice in choices],
        "curve": [{"jaccard": s, "probability": p} for s, p in curve],
    }
    lines = [
        *_describe_bands(measure, str(given.threshold), banding),
        *_draw_curve(measure, curve),
        *_list_choices(measure, choices, num_perm),
    ]
    call.print_result(facts, *lines)


def _predicted_recall(measure: Measure, banding: Banding) -> float:
    return banding.candidate_probability(float(measure.least_jaccard))


def _describe_choice(choice: BandChoice) -> dict[str, Any]:
    return {
        "num_perm": choice.num_perm,
        "bands": choice.banding.bands,
        "rows": choice.banding.rows,
        "predicted_recall": choice.predicted_recall,
        "steepest": choice.banding.steepest,
        "standard_error": choice.standard_error,
    }


def _describe_bands(measure: Measure, threshold: str, banding: Banding) -> list[str]:
    """Describe the bands and the recall they give, one sentence per line."""
    lines = [
        f"{counted(banding.bands, 'band')} of {counted(banding.rows, 'row')}, "
        f"{counted(banding.num_perm, 'hash function')}",
        f"a pair at {measure.name} {threshold} is compared with probability "
        f"{_predicted_recall(measure, banding):.4f}",
    ]
    if not measure.is_jaccard:
        least = float(measure.least_jaccard)
        lines.append(f"such a pair has a Jaccard similarity of at least {least:.3f}")
    if measure.size_ratio is not None:
        ratio = "twice" if measure.size_ratio == 2 else f"{measure.size_ratio} times"
        lines.append(f"if one document is at most {ratio} as large as the other")
    lines.append(
        f"the curve is steepest at {banding.steepest:.3f}; half of the pairs are compared at "
        f"{banding.midpoint:.3f}"
    )
    return lines


def _draw_curve(measure: Measure, curve: list[tuple[float, float]]) -> list[str]:
    """Draw the S-curve as bars, one line per similarity."""
    block = "█" if _can_print("█") else "#"
    lines = ["", "Jaccard  probability that a pair is compared"]
    for jaccard, probability in curve:
        bar = block * round(_BAR * probability)
        mark = "  <- threshold" if jaccard == float(measure.least_jaccard) else ""
        lines.append(f"{jaccard:7.3f}  {bar:<{_BAR}}  {probability:.4f}{mark}")
    return lines


def _list_choices(measure: Measure, choices: list[BandChoice], num_perm: int) -> list[str]:
    """Lay out the bands of other numbers of hash functions, and mark the chosen number."""
    if not choices:
        return []
    lower = 0.75 * float(measure.least_jaccard)
    header = f"--num-perm  bands x rows  recall  steepest  compared at {lower:.3f}  std. error"
    lines = ["", header]
    for choice in choices:
        banding = choice.banding
        lines.append(
            f"{choice.num_perm:10}  {f'{banding.bands} x {banding.rows}':>12}"
            f"  {choice.predicted_recall:.4f}  {banding.steepest:8.3f}"
            f"  {banding.candidate_probability(lower):17.4f}  {choice.standard_error:10.4f}"
            f"{'  <-' if choice.num_perm == num_perm else ''}"
        )
    return lines


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
