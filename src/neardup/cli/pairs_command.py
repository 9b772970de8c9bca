"""``neardup pairs``: all pairs of similar documents, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.cli.call import Call, TableOutput, describe_bands, describe_weights, footer
from neardup.cli.command import INPUTS, job_command
from neardup.options.document_options import PairOptions
from neardup.options.groups import AgainstDataOptions, CommandOptions, EngineOptions, TableOptions
from neardup.runs.progress import counted

_EPILOG = """\b
Examples:
  neardup pairs records.csv --text-column title --preset titles -o pairs.csv
  neardup pairs names.csv --text-column name --max-distance 2 -o pairs.csv
  neardup pairs new.jsonl --against old.jsonl --top 3 --per-document -o nearest.parquet
  neardup pairs docs.jsonl --measure weighted-jaccard --threshold 0.7 -o pairs.parquet
  neardup pairs a.csv --against b.csv --text-column name --blocking city --one-to-one -o same.csv
"""


class PairCommandOptions(
    PairOptions, AgainstDataOptions, TableOptions, EngineOptions, CommandOptions
):
    """Options of ``neardup pairs``."""

    in_python = frozenset({"seed", "occurrences", "tf", "num_perm", "bands"})


@job_command("pairs", PairCommandOptions, INPUTS, epilog=_EPILOG)
def pairs(call: Call, inputs: tuple[str, ...]) -> None:
    """Find all pairs of similar documents, or the most similar.

    INPUT is files, folders, globs, URLs or - for standard input, as for `neardup dedup`. OTHER is
    the same, or the folder of an index of documents.

    Writes id_a, id_b, similarity, and overlap (common shingles) or distance (edits);
    weighted-jaccard has neither. Pairs are in the order of the input, a before b within one
    collection; with --top the most similar is first. For containment a is contained in b. Every
    pair is found unless --method is minhash.
    """
    from neardup.files.inputs import origins_of, resolve_paths
    from neardup.jobs.pairs.find_pairs import PairJob

    given: PairCommandOptions = call.options
    options = given.part(PairOptions)
    against: Any = given.against
    job = PairJob(
        options, resolve_paths, inputs, against, named=[Path(each) for each in against or ()]
    )
    if call.is_on_spark:
        call.check_spark()
    output = TableOutput(call)
    folder = None if job.index is None else job.index.folder
    read = origins_of(*(each or () for each in (job.left, job.right)))
    output.check_apart([*read, *([] if folder is None else [str(folder)])], folder)
    key = job.key(call.runner) if folder is None or call.is_on_spark else None
    with call.working(output.place, key) as workspace:
        with call.display:
            result = job.run(call.engine_within(workspace))
        output.write(result)
    output.print_result(result.summary, *_report(result.summary), *footer(result.summary, output))


def _report(summary: Mapping[str, Any]) -> list[str]:
    documents = " and ".join(counted(number, "document") for number in summary["documents"])
    lines = [f"{documents}: {counted(summary['pairs'], 'pair')}{_condition(summary)}"]
    if summary["method"] == "minhash":
        lines.append(describe_bands(summary))
    if n_outside := summary.get("unblocked"):
        named = " or ".join(summary["blocking"])
        lines.append(f"{counted(n_outside, 'document')} without a value in {named}")
    return lines


def _condition(summary: Mapping[str, Any]) -> str:
    if summary.get("max_distance") is not None:
        condition = f" within {counted(summary['max_distance'], 'edit')}"
    else:
        condition = f" with {summary['measure']} >= {summary['threshold']:g}"
    condition += describe_weights(summary["scheme"])
    if "top" in summary:
        each = " of each document" if summary["per_document"] else ""
        best = "nearest" if summary.get("max_distance") is not None else "most similar"
        number = "" if summary["top"] == 1 else f"{summary['top']:,} "
        condition += f", the {number}{best}{each}"
    if "blocking" in summary:
        condition += f", within blocks of equal {' and '.join(summary['blocking'])}"
    if "one_to_one" in summary:
        condition += f", one to one of {summary['similar_pairs']:,}"
    return condition
