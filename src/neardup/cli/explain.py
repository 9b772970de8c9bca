"""``neardup explain``: why a document was removed or kept."""

from __future__ import annotations

from neardup.cli.call import Call
from neardup.cli.command import argument, job_command
from neardup.options.choices import ColumnNames
from neardup.options.groups import AgainstDataOptions, AgainstOptions, CommandOptions, OpenOptions
from neardup.options.option import but, option

_EPILOG = """\b
Examples:
  neardup explain clean essay-17
  neardup explain clean essay-17 --against test.parquet --json
"""


class ExplainCommandOptions(AgainstDataOptions, CommandOptions):
    """Options of ``neardup explain``."""

    heading = "Input"

    against_text_column: ColumnNames | None = option(
        AgainstOptions.known["against_text_column"], default=None
    )
    against_id_column: str | None = option(AgainstOptions.known["against_id_column"], default=None)
    tokenizer: str | None = option(
        OpenOptions.known["tokenizer"],
        default=None,
        help="The tokenizer.json file that was used, if any.",
        metavar="FILE",
    )
    differs = but(against={"help": "The second collection, if the job had one."})


@job_command(
    "explain",
    ExplainCommandOptions,
    argument("folder", "FOLDER"),
    argument("identifier", "ID"),
    epilog=_EPILOG,
)
def command(call: Call, folder: str, identifier: str) -> None:
    """Explain why a document was removed or kept.

    FOLDER is the output of `neardup dedup`, ID the id of a document in its tables.

    A removed document is compared with the one that is kept in its place, a kept one with all kept
    ones, to find the nearest. Prints their similarity, common buckets and differences.
    """
    from neardup.errors import InvalidParameterError
    from neardup.jobs.explain import explain_document
    from neardup.stages.options import columns_of, input_options_of
    from neardup.stages.output import open_output
    from neardup.stages.tables import ReadCollection

    given: ExplainCommandOptions = call.options
    output = open_output(folder)
    read = output.summary["reading"]
    if given.against and not output.summary.get("against_documents"):
        message = "the documents were compared with no others; leave against out"
        raise InvalidParameterError(message, "against")
    text, id_column = given.against_text_column, given.against_id_column
    own = AgainstOptions(against_text_column=text, against_id_column=id_column)
    own.check_other("against", is_given=bool(given.against))
    options = AgainstOptions(
        text_column=text or read.get("against_text_column") or read["text_column"],
        id_column=id_column or output.summary.get("against_id_column"),
        on_error="skip",
        **vars(input_options_of(read)),
    )
    sources = call.other_sources(options, given.tokenizer)
    others = (
        None if sources is None else ReadCollection(sources, columns_of(options), skip_bad=True)
    )
    with call.display:
        found = explain_document(
            output, identifier, call.runner, against=others, tokenizer=given.tokenizer
        )
    call.print_result(found.to_dict(), found.to_text())
