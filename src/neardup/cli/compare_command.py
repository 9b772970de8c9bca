"""Commands ``neardup compare`` for texts and ``neardup explain`` for decisions."""

from __future__ import annotations

from typing import Any

from neardup.cli.call import Call, hold
from neardup.cli.command import argument, job_command
from neardup.options.choices import ColumnNames
from neardup.options.document_options import CompareOptions
from neardup.options.groups import AgainstDataOptions, AgainstOptions, CommandOptions
from neardup.options.kinds import Encoding, PathOrUrl
from neardup.options.option import but, option

_STANDARD_INPUT = "-"
# Formats of files with one document, by the endings of their names.
_OF_DOCUMENTS = ("docx", "odt", "epub", "pdf")
_EPILOG = """\b
Examples:
  neardup compare draft.txt published.txt
  neardup compare frankenstein-1818.txt frankenstein-1831.txt --report editions.html
  neardup compare thesis.txt.gz - --ngram 3 --json
  neardup compare essay.docx essay.pdf
"""


class CompareCommandOptions(CompareOptions, CommandOptions):
    """Options of ``neardup compare``."""

    heading = "Output"

    report: Any = option(
        "Also write an HTML page with both texts side by side.",
        PathOrUrl(),
        default=None,
        metavar="FILE",
    )
    overwrite: bool = option("Replace the page if it exists.", default=False)
    encoding: str | None = option(
        "Encoding of both texts, as Python names it.", Encoding(), default=None, usual="utf-8"
    )


@job_command(
    "compare", CompareCommandOptions, argument("a", "A"), argument("b", "B"), epilog=_EPILOG
)
def compare(call: Call, a: str, b: str) -> None:
    """Compare two texts: similarity, common passages and differences.

    A and B are text files with any ending, or documents (.docx, .odt, .epub, .pdf), each one text,
    also .gz, .zst, .xz and .bz2, or URLs; one of them may be - for standard input, which is text.

    Prints the exact similarity, the common passages and the differences, with their characters.
    The page and --json have all measures.
    """
    from neardup.errors import InvalidInputError
    from neardup.files.destinations import check_apart
    from neardup.jobs.compare import compare_texts
    from neardup.reports.page import check_page_file

    given: CompareCommandOptions = call.options
    page, options = given.report, given.part(CompareOptions)
    if a == b == _STANDARD_INPUT:
        message = "only one of the two texts can be standard input; name a file for the other"
        raise InvalidInputError(message)
    if page is not None:
        check_page_file(page, overwrite=given.overwrite)
        hold(page, overwrite=given.overwrite)
        check_apart(page, [a, b])
    if options.tokenizer == "code":
        options = options.but(tokenizer=f"code:{_language_of(a, b)}")
    texts = (_read_text(a, given.encoding), _read_text(b, given.encoding))
    with call.display:
        result = compare_texts(texts, options, names=(a, b), runner=call.runner)
    if page is not None:
        result.report().write(page, overwrite=given.overwrite)
    if given.json:
        call.print_result(result.to_dict())
        return
    written = [] if page is None else [f"written to {page}"]
    call.print_result({}, result.to_text(), *written)


def _language_of(a: str, b: str) -> str:
    """Return the language that both files have by their endings."""
    from neardup.errors import InvalidParameterError
    from neardup.files.encodings import LANGUAGES, language_of_file

    languages = {LANGUAGES[language_of_file(each)] for each in (a, b)}
    if len(languages) > 1 or "" in languages:
        message = (
            f"tokenizer must name the language, such as code:java, because the endings of {a} and "
            f"{b} do not mean one for both"
        )
        raise InvalidParameterError(message, "tokenizer")
    return languages.pop()


def _read_text(location: str, encoding: str | None) -> str:
    from neardup.files.formats import file_source, format_of
    from neardup.files.inputs import resolve_paths
    from neardup.files.rows import ColumnNames
    from neardup.options.groups import InputOptions

    known = None if location == _STANDARD_INPUT else format_of(location)
    is_document = known is not None and known.name in _OF_DOCUMENTS
    options = InputOptions(input_format="auto" if is_document else "text", encoding=encoding)
    if location == _STANDARD_INPUT:
        [source] = resolve_paths([location], options)
    else:
        source = file_source(location, location, options)
    texts = [block.parse(ColumnNames()).text for block in source.blocks()]
    return str(texts[0][0].as_py()) if texts else ""


_EXPLAIN_EPILOG = """\b
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
    differs = but(against={"help": "The second collection, if the job had one."})


@job_command(
    "explain",
    ExplainCommandOptions,
    argument("folder", "FOLDER"),
    argument("identifier", "ID"),
    epilog=_EXPLAIN_EPILOG,
)
def explain(call: Call, folder: str, identifier: str) -> None:
    """Explain why a document was removed or kept.

    FOLDER is the output of `neardup dedup`, ID the id of a document in its tables.

    Prints the document that is kept in the place of a removed one, their similarity, and the
    differences of their texts.
    """
    from neardup.errors import InvalidParameterError
    from neardup.jobs.explain import explain_document
    from neardup.stages.options import columns_of, input_options_of
    from neardup.stages.output import open_output
    from neardup.stages.result_tables import ReadCollection

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
    sources = call.other_sources(options)
    others = None
    if sources is not None:
        others = ReadCollection(sources, columns_of(options), skip_bad=True)
    with call.display:
        explanation = explain_document(output, identifier, call.runner, others)
    call.print_result(explanation.to_dict(), explanation.to_text())
