"""Commands ``neardup dedup`` and ``neardup plan``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.cli.call import Call, FolderOutput, describe_bands, describe_weights, footer
from neardup.cli.command import INPUTS, job_command
from neardup.options.choices import DocumentMeasure, Number
from neardup.options.document_options import DedupOptions
from neardup.options.groups import (
    MEASURE,
    THRESHOLD,
    AgainstDataOptions,
    BandOptions,
    CommandOptions,
    EngineOptions,
    FolderOptions,
    PrintOptions,
)
from neardup.options.option import Options, but, option
from neardup.runs.progress import counted, plural

_EPILOG = """\b
Examples:
  neardup dedup corpus/*.jsonl.zst -o clean
  neardup dedup train.parquet --against test.parquet --threshold 0.5 -o clean
  neardup dedup scans/*.txt --preset ocr -o clean
  neardup dedup pages/ --keep longest --measure containment --threshold 0.9 -o clean
  neardup dedup week-37.jsonl --against idx --add -o new
  neardup dedup week-37.jsonl --against takedown.jsonl --against tests/ -o new
"""


class DedupCommandOptions(
    AgainstDataOptions, DedupOptions, FolderOptions, EngineOptions, CommandOptions
):
    """Options of ``neardup dedup``."""

    heading = "Output"
    in_python = frozenset({"seed", "occurrences", "tf"})

    differs = but(
        against={
            "help": "Also remove documents similar to any in OTHER.",
            "more": "Files, or the folder of an index; files may be given several times.",
        },
    )


@job_command("dedup", DedupCommandOptions, INPUTS, epilog=_EPILOG)
def dedup(call: Call, inputs: tuple[str, ...]) -> None:
    """Remove near-duplicate documents.

    INPUT is files, folders, globs, URLs or - for standard input: JSON lines, JSON, CSV, TSV,
    Parquet or text, also compressed (.gz .zst .xz .bz2); office documents and PDF; and zip and tar
    archives of these.

    OTHER is the same, or the folder of an index of documents. Documents are looked up in an index,
    so that memory and time do not grow with it. --add adds the kept documents to it:
    batches one after the other then give the same result as one run over all of them.

    Writes to the output folder: kept/ and removed/ with the input's rows, removed.parquet with the
    kept document and the similarity for each removed one, clusters.parquet, and summary.json. With
    --on-error skip also skipped/ with the bad rows, and skipped.parquet with file, row and reason
    of each.
    """
    given: DedupCommandOptions = call.options
    from neardup.files.inputs import origins_of, resolve_paths
    from neardup.jobs.dedup.run import DedupJob
    from neardup.runs.work import IN_MEMORY

    options = given.part(DedupOptions)
    against: Any = given.against or ()
    index, is_new = None, False
    if against:
        from neardup.documents.other import index_among
        from neardup.index.store import index_named

        index = index_among(list(map(Path, against)), options.tokenizer, may_be_new=options.add)
        is_new = index is not None and index_named(index.folder) is None
    files = None if index else given.against
    job = DedupJob(options, resolve_paths, inputs, files, index=index)
    if call.is_on_spark:
        call.check_spark(job.whole)
    output = FolderOutput(call)
    sources, folder = job.sources, None if index is None else index.folder
    origins = origins_of(job.others)
    output.check(sources, origins, index=folder)
    with job.open_reference(call.engine_within(IN_MEMORY)) as reference:
        key = job.key(reference)
        with call.working(output.place, key) as workspace, call.display:
            result = job.run(call.engine_within(workspace), reference)
            output.write(result)
    lines = _report(result.summary, index=folder, is_new=is_new)
    call.print_result(result.summary, *lines, *footer(result.summary, output))


def _report(summary: Mapping[str, Any], *, index: Path | None, is_new: bool) -> list[str]:
    coverage = "joined exactly, none is missed"
    if summary["method"] != "exact":
        coverage = describe_bands(summary)
    copies = summary["exact_copies"]
    near = summary["documents_removed"] - copies
    scheme = summary["scheme"]
    lines = [
        f"{counted(summary['documents_in'], 'document')}: {summary['documents_kept']:,} kept, "
        f"{summary['documents_removed']:,} removed "
        f"({counted(copies, 'exact copy', 'exact copies')}, {counted(near, 'near-duplicate')})",
    ]
    if summary["against_documents"] or index is not None:
        lines.append(
            f"against {counted(summary['against_documents'], 'document')}: "
            f"{summary['removed_for_against']:,} removed as similar to --against, "
            f"{summary['removed_within']:,} to another document of INPUT"
        )
    if n_denied := summary.get("documents_denied", 0):
        lines.append(f"{n_denied:,} of those {plural(n_denied, 'is', 'are')} denied")
    lines.append(
        f"similar: {summary['measure']} >= {summary['threshold']} over {scheme['tokenizer']} "
        f"{scheme['ngram']}-grams{describe_weights(scheme)}; {coverage}"
    )
    if "audit" in summary:
        lines.append(_audit(summary["audit"]))
    if "removed_beyond_survivors" in summary:
        more = counted(summary["removed_beyond_survivors"], "document")
        lines.append(f"components remove {more} more than survivors")
    if "documents_added" in summary:
        added = counted(summary["documents_added"], "document")
        lines.append(f"{added} added to the index {index}{', which is new' if is_new else ''}")
    if n_known := summary.get("documents_known", 0):
        lines.append(
            f"{counted(n_known, 'document')} {plural(n_known, 'was', 'were')} there already, with "
            "the same id and text; was this input added before?"
        )
    return lines


def _audit(audit: dict[str, Any]) -> str:
    drawn = counted(audit["documents"], "distinct text")
    if audit["recall"] is None:
        return f"audit of {drawn}: none is similar to another, so nothing is known of the recall"
    low, high = audit["interval"]
    return (
        f"audit of {drawn}: {audit['found_pairs']:,} of "
        f"{counted(audit['similar_pairs'], 'similar pair')} "
        f"{plural(audit['found_pairs'], 'shares', 'share')} a band; in the mean of "
        f"{counted(audit['similar_documents'], 'text')} the recall is {audit['recall']:.4f} "
        f"(95 % confidence: {low:.4f} to {high:.4f}); {audit['kept_although_similar']:,} of them "
        "kept beside a similar one"
    )


_PLAN_EPILOG = """\b
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


@job_command("plan", PlanCommandOptions, epilog=_PLAN_EPILOG)
def plan(call: Call) -> None:
    """Show bands and rows for a threshold and recall.

    Prints the bands and rows that `neardup dedup` chooses with the same options, and the S-curve:
    the probability that two documents of a given Jaccard similarity are compared. It also prints
    where the curve is steepest. Reads no input.
    """
    from neardup.matching.measures import make_measure
    from neardup.stages.options import choose_bands

    given: PlanCommandOptions = call.options
    options = given.part(BandOptions)
    measure = make_measure(given.measure, given.threshold)
    banding, _ = choose_bands(options, measure)
    points = sorted({*(i / 20 for i in range(2, 21)), float(measure.least_jaccard)})
    curve = [(jaccard, banding.candidate_probability(jaccard)) for jaccard in points]
    recall = banding.candidate_probability(float(measure.least_jaccard))
    facts = {
        "measure": measure.name,
        "threshold": float(measure.threshold),
        "least_jaccard": float(measure.least_jaccard),
        "recall": float(options.recall_asked_for),
        "predicted_recall": recall,
        "bands": banding.bands,
        "rows": banding.rows,
        "steepest": banding.steepest,
        "midpoint": banding.midpoint,
        "curve": [{"jaccard": s, "probability": p} for s, p in curve],
    }
    lines = [
        f"{counted(banding.bands, 'band')} of {counted(banding.rows, 'row')}, "
        f"{counted(banding.num_perm, 'hash function')}",
        f"a pair at {measure.name} {given.threshold} is compared with probability {recall:.4f}",
        f"the curve is steepest at {banding.steepest:.3f}; half of the pairs are compared at "
        f"{banding.midpoint:.3f}",
        "",
        "Jaccard  probability that a pair is compared",
    ]
    for jaccard, probability in curve:
        bar = "#" * round(_BAR * probability)
        mark = "  <- threshold" if jaccard == float(measure.least_jaccard) else ""
        lines.append(f"{jaccard:7.3f}  {bar:<{_BAR}}  {probability:.4f}{mark}")
    call.print_result(facts, *lines)
