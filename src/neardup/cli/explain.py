"""``neardup explain``: why a document was removed or kept."""

from __future__ import annotations

import click

from neardup.cli.call import Call
from neardup.cli.command import TableCommand, complete_paths, options_of

_EPILOG = """\b
Examples:
  neardup explain clean essay-17
  neardup explain clean essay-17 --against test.parquet --json
"""


@click.command("explain", cls=TableCommand, epilog=_EPILOG)
@click.argument("folder", metavar="FOLDER", shell_complete=complete_paths)
@click.argument("identifier", metavar="ID")
@options_of("explain")
def command(call: Call) -> None:
    """Explain why a document was removed or kept.

    FOLDER is one that `neardup dedup` has written, ID that of a document in its tables.

    A removed document is compared again with the one that is kept in its place, a kept one with all
    that are kept, for its nearest neighbour: how similar they are, which buckets they share, what
    differs.
    """
    from neardup.errors import InvalidParameterError
    from neardup.jobs.explain import explain_document
    from neardup.options.groups import AgainstOptions
    from neardup.stages.options import columns_of, input_options_of
    from neardup.stages.output import open_output
    from neardup.stages.tables import Collection

    output = open_output(call.folder)
    read = output.summary["reading"]
    if call.against and not output.summary.get("against_documents"):
        message = "the documents were compared with no others; leave against out"
        raise InvalidParameterError(message, "against")
    text, identifier = call.against_text_column, call.against_id_column
    own = AgainstOptions(against_text_column=text, against_id_column=identifier)
    own.check_other("against", is_given=bool(call.against))
    options = AgainstOptions(
        text_column=text or read.get("against_text_column") or read["text_column"],
        id_column=identifier or output.summary.get("against_id_column"),
        on_error="skip",
        **vars(input_options_of(read)),
    )
    sources = call.other_sources(options, call.tokenizer)
    others = None if sources is None else Collection(sources, columns_of(options), skip_bad=True)
    with call.display:
        found = explain_document(
            output, call.identifier, call.runner, against=others, tokenizer=call.tokenizer
        )
    call.tell(found.to_dict(), found.to_text())
