"""Where results go, and what only commands ask: no job of Python has these options."""

from pathlib import Path
from typing import Any

from neardup.options.choices import Data, Engine, IndexKind, OutputFormat, TableFormat
from neardup.options.kinds import (
    Address,
    Location,
    PathOrUrl,
)
from neardup.options.option import Options, option


class OutputOptions(Options):
    """Where results go, and how."""

    output: Any = option(
        "File or URL to create: .parquet, .csv, .jsonl or .xlsx; - for standard output.",
        PathOrUrl(),
        default=None,
        flags=("-o", "--output"),
        is_required=True,
    )
    page: Any = option(
        "Also write a page that shows what was found and why, one file that ends in .html.",
        PathOrUrl(),
        default=None,
        flags=("--report",),
        metavar="FILE",
    )
    html: Any = option(
        "Also write a page with both texts side by side, shared passages linked by colour.",
        PathOrUrl(),
        default=None,
        metavar="FILE",
    )
    table_format: TableFormat | None = option(
        "Format of the table where the name of the output does not say it.",
        default=None,
        usual="jsonl",
        flags=("--output-format",),
    )
    output_format: OutputFormat = option(
        "Format of the rows written; same leaves every row as it came in.",
        default="same",
        flags=("--format",),
    )
    tables_only: bool = option(
        "Write tables and summary alone, no rows: for a corpus too large to be copied.",
        default=False,
    )
    no_text: bool = option("Leave out the passages' texts.", default=False)
    overwrite: bool = option("Replace the output file if it exists.", default=False)
    quiet: bool = option("Print nothing but errors.", default=False)
    as_json: bool = option("Print the result as one JSON object.", default=False, flags=("--json",))


class CommandOptions(Options):
    """What only single commands ask."""

    pairs: str | None = option(
        "Table that `neardup pairs` has made of INPUT: decide by its pairs, at their threshold "
        "or a higher one, and compare no text again.",
        Address(),
        default=None,
        metavar="FILE",
    )
    engine: Engine = option(
        "What does the work: threads of this process, or a Spark session; its executors have "
        "to reach inputs and output under the same paths or URLs.",
        default="threads",
    )
    with_text: bool = option(
        "Add the texts to removed.parquet, of each removed document and of the one "
        "that stays for it.",
        default=False,
    )
    fresh: bool = option(
        "Start over instead of going on with a run that was stopped.", default=False
    )
    kind: IndexKind = option(
        "What is found: passages that are similar to passages, or whole documents. DIR remembers "
        "it.",
        default="passages",
    )
    id_file: Path | None = option(
        "File with one id a line; - for standard input.",
        Location(is_file=True),
        default=None,
        flags=("--ids",),
    )
    deny: bool = option(
        "Documents: remember what they are known by, without their texts, and leave them out where "
        "they come again.",
        default=False,
    )
    labels: Data | None = option(
        "Pairs that are right, a table with id_a and id_b, or one that a page of `neardup review` "
        "has handed out; the page has precision and recall of those found.",
        default=None,
        metavar="FILE",
    )
    show_all: bool = option(
        "Show every measure with its exact value, and what sketches would have estimated.",
        default=False,
        flags=("--all",),
    )
