"""The ``neardup align`` command for passages shared by documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.cli.call import Call, TableOutput, describe_recall, footer
from neardup.cli.command import INPUTS, job_command
from neardup.options.choices import Data
from neardup.options.groups import AgainstDataOptions, CommandOptions, EngineOptions, TableOptions
from neardup.options.kinds import Switch
from neardup.options.option import but, option
from neardup.options.passage_options import AlignOptions
from neardup.runs.progress import counted, plural

# Below this probability a line names the option that finds more.
_FEW = 0.9
_EPILOG = """\b
Examples:
  neardup align edition-1818.txt --against edition-1831.txt -o shared.jsonl
  neardup align essays/ --summary documents --ignore prompt.txt -o who.xlsx
  neardup align sermons/ --against bible/ --preset quotations -o quoted.csv
  neardup align questions.jsonl --against corpus/*.jsonl --min-tokens 25 -o leaks.parquet
  neardup align statutes/*.txt --against idx --threshold 0.7 --max-documents 20 -o copies.csv
"""


class AlignCommandOptions(
    AlignOptions, AgainstDataOptions, TableOptions, EngineOptions, CommandOptions
):
    """Options of ``neardup align``."""

    heading = "Input"
    in_python = frozenset({"tf"})

    ignore: Data | None = option(
        "Ignore text of these documents, such as a form.",
        default=None,
        more="Runs of their tokens are left out of INPUT, and passages continue behind them. An "
        "index keeps its text.",
        metavar="FILE",
    )
    with_text: Any = option(
        AlignOptions.known["with_text"],
        Switch(),
        default=None,
        usual="for JSON lines and spreadsheets",
    )
    differs = but(against={"usual": "the documents of INPUT with each other"})


@job_command("align", AlignCommandOptions, INPUTS, epilog=_EPILOG)
def align(call: Call, inputs: tuple[str, ...]) -> None:
    """Find all passages that documents share.

    INPUT and OTHER are files, folders, globs or URLs, as for `neardup dedup`. The documents of
    OTHER are indexed in a temporary folder, unless OTHER is an index. Without OTHER each pair of
    documents of INPUT is compared once; the earlier one is the query.

    Every window of INPUT's documents is looked up. Matches of neighbouring windows are joined, and
    their ends are moved to the first and last place where the texts agree.

    Writes query_id, query_start, query_end, doc_id, doc_start, doc_end and similarity, that of the
    two whole passages. Starts and ends count characters of the original texts, ends exclusive. JSON
    lines and spreadsheets also have query_text and doc_text. With --summary documents it writes how
    much each pair of documents shares, the largest share first.
    """
    from neardup.files.inputs import origins_of, resolve_paths
    from neardup.jobs.align import AlignJob

    given: AlignCommandOptions = call.options
    output = TableOutput(call)
    against: Any = given.against or None
    named = [Path(each) for each in against or ()]
    asked = given.part(AlignOptions, with_text=_has_texts(given, output))
    if call.is_on_spark:
        call.check_spark()
    job = AlignJob(
        asked,
        resolve_paths,
        inputs,
        against,
        given.ignore or None,
        named=named[0] if len(named) == 1 else named or None,
        names=("INPUT", "against"),
    )
    key = job.key(call.runner) if call.is_on_spark else None
    with call.working(output.place, key) as workspace, call.display:
        read = origins_of(job.sources, job.templates)
        output.check_apart([*read, *(against or ())], job.folder)
        result = job.run(call.engine_within(workspace))
        output.write(result)
    lines = _report(result.summary)
    if result.document_pairs is not None:
        n_pairs = len(result.document_pairs)
        lines.append(
            f"{counted(n_pairs, 'pair')} of documents {plural(n_pairs, 'shares', 'share')} text"
        )
    output.print_result(result.summary, *lines, *footer(result.summary, output))


def _has_texts(given: AlignCommandOptions, output: TableOutput) -> bool:
    if given.summary is not None:
        names, where = ("with_text", "places", "place_marker"), "with summary documents"
        given.check_left_out(names, where, "write the passages", "summary")
        return False
    return output.takes_texts()


def _report(summary: Mapping[str, Any]) -> list[str]:
    documents = " against ".join(counted(n, "document") for n in summary["documents"])
    lines = [
        f"{documents}: {counted(summary['passages'], 'passage')} in "
        f"{counted(summary['aligned_documents'], 'document')}",
        f"{counted(summary['windows'], 'window')} of {counted(summary['window_tokens'], 'token')} "
        f"searched with threshold {summary['window_threshold']:.2f}; a passage of "
        f"{summary['min_tokens']} tokens at the threshold is found{describe_recall(summary)}"
        f"{'; --recall 0.9 finds more' if summary['predicted_recall'] < _FEW else ''}",
    ]
    if n_frequent := summary["frequent_windows"]:
        lines.append(
            f"{counted(n_frequent, 'window')} left out, found in more than "
            f"{counted(summary['max_documents'], 'document')}"
        )
    if n_ignored := summary["ignored_tokens"]:
        lines.append(f"{counted(n_ignored, 'token')} of INPUT ignored")
    return lines
