"""Groups of options that several jobs share."""

from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from neardup.options.choices import (
    Clusters,
    ColumnNames,
    DataOrIndex,
    DocumentMeasure,
    DocumentUnit,
    Engine,
    Fingerprint,
    InputFormat,
    InverseFrequency,
    Number,
    Occurrences,
    OnError,
    OutputFormat,
    Progress,
    TermFrequency,
    TokenizerChoice,
    UnicodeForm,
)
from neardup.options.kinds import (
    BandShape,
    ByteSize,
    Choice,
    Columns,
    Delimiter,
    Documents,
    Encoding,
    FunctionOrFlag,
    Location,
    PathOrUrl,
    Seconds,
    Share,
    TokenizerName,
    Whole,
    cuts_programs,
    exact_fraction,
)
from neardup.options.option import Option, Options, but, option

# Options that several jobs declare, each with its own default and help.

THRESHOLD = Option(
    "Least similarity, in (0, 1].",
    Share(),
    more="An exact decimal; a similarity equal to it passes.",
    metavar="T",
)
MEASURE = Option("Similarity measure of two documents.", Choice(DocumentMeasure))
LIMIT = Option("Fail if there are more than N pairs.", Whole(1), metavar="N")
MIN_TOKENS = Option(
    "Length in tokens from which all passages are found.",
    Whole(1, 65536),
    usual="50",
)


class InputOptions(Options):
    """Options of the format of input files."""

    heading = "Input"

    input_format: InputFormat = option(
        "Format of all files, whatever their endings.",
        default="auto",
        more="auto goes by the ending of each file; a named file with another ending is plain "
        "text, and such files of a folder are passed over.",
    )
    encoding: str | None = option(
        "Encoding of text files, such as latin-1 or utf-16.",
        Encoding(),
        default=None,
        more="A name that Python knows, for text, CSV, JSON and web pages.",
        usual="that of the page, else utf-8",
    )
    delimiter: str | None = option(
        "Field separator of CSV and TSV; tab is allowed.",
        Delimiter(),
        default=None,
        usual="a comma; a tab for TSV",
    )
    document: DocumentUnit | None = option(
        "One document per line of text files, or per folder.",
        Choice(DocumentUnit),
        default=None,
        usual="one document per file or row",
        more="folder joins the files of each folder in the order of their names, such as a program "
        "or a book of several files. Passages name the file in which they begin.",
    )
    main_text: bool = option("Extract only the main text of web pages.", default=False)

    @property
    def reads_programs(self) -> bool:
        """Return whether folders include source files, otherwise skipped."""
        tokenizer, preset = map(vars(self).get, ("tokenizer", "preset"))
        return self.input_format == "auto" and cuts_programs(tokenizer or preset)

    @property
    def by_ending(self) -> bool:
        """Return whether the endings of source files decide their languages."""
        return self.reads_programs and ":" not in (vars(self).get("tokenizer") or "")


class ReadingOptions(InputOptions):
    """Options of input files, columns and bad rows."""

    text_column: ColumnNames = option(
        "Column of the text; several are joined with newlines.",
        Columns(),
        default="text",
        more="A name, or a path such as doc.text. Repeat the option to join columns in the order "
        "given.",
    )
    id_column: str | None = option(
        "Column of the ids; '' makes ids <file>:<row>.",
        default=None,
        usual="id, if all inputs have it",
        more="The id of a file that is one document is <file>.",
    )
    on_error: OnError = option(
        "Fail at a bad row, or skip and count it.",
        default="raise",
        more="A job that writes a folder puts skipped rows into skipped/. A repeated id, and a "
        "column that a whole file lacks, are always errors.",
    )

    @property
    def skip_bad(self) -> bool:
        """Return whether bad rows are skipped."""
        return self.on_error == "skip"


class WhereOptions(Options):
    """Condition on the rows of the input."""

    heading = "Input"

    where: str | None = option(
        "Read only rows of INPUT that meet this SQL condition.",
        default=None,
        more="Such as \"status = 200 and lang in ('en', 'de')\". The other rows are counted.",
        metavar="CONDITION",
    )


class AgainstOptions(ReadingOptions):
    """Columns of a second collection."""

    against_text_column: ColumnNames | None = option(
        "Column of the text in OTHER.",
        Columns(),
        default=None,
        usual="that of INPUT",
    )
    against_id_column: str | None = option(
        "Column of the ids in OTHER.", default=None, usual="as of INPUT"
    )

    def check_other(self, name: str, *, is_given: bool) -> None:
        """Raise for columns of a missing second collection, called ``name``."""
        if not is_given:
            self.check_no_other(f"without {name}", f"give {name}", name)

    def check_no_other(self, where: str, remedy: str, *others: str) -> None:
        """Raise, as ``no_effect``, for columns of a second collection."""
        names = ("against_text_column", "against_id_column")
        self.check_left_out(names, where, remedy, *others)


class NormalOptions(Options):
    """Differences between texts that do not count."""

    heading = "Text"

    casefold: bool | None = option("Ignore case.", default=None, usual="for words only")
    unicode_form: UnicodeForm | None = option(
        "Unicode form in which texts are compared.",
        Choice(UnicodeForm),
        default=None,
    )
    strip_accents: bool = option("Ignore accents.", default=False)
    stem: str | None = option(
        "Compare stems of words in this language, such as english.",
        default=None,
        more="By Snowball's algorithms for some 30 languages; for tokenizer words only.",
    )


class TokenOptions(NormalOptions):
    """Tokens and shingles of a text."""

    tokenizer: TokenizerChoice | None = option(
        "Tokens: words, whitespace, characters, bytes or code.",
        TokenizerName(),
        default=None,
        usual="words",
        more="Also the path of a tokenizer.json file; in Python a function from a text to tokens. "
        "code takes the programming language of each file from its ending; code:java is Java for "
        "all.",
    )
    ngram: int | None = option(
        "Tokens per shingle.", Whole(1, 65536), default=None, usual="5; 1 for weighted-jaccard"
    )


class SeedOptions(Options):
    """Seed of the hash functions."""

    heading = "Text"

    seed: int | None = option(
        "Seed of the hash functions.",
        Whole(0, 2**64 - 1),
        default=None,
        usual="42",
    )


class FingerprintOptions(Options):
    """Hash function of shingles."""

    heading = "Text"

    fingerprint: Fingerprint | None = option(
        "Hash function of shingles.",
        default=None,
        usual="mixer",
        more="The probability of a collision of rabin is bounded for any texts.",
    )


class OccurrenceOptions(Options):
    """Option for the multiplicity of shingles."""

    heading = "Text"

    occurrences: Occurrences | None = option(
        "Shingles as a set, or numbered as a multiset.", default="set"
    )


class ShingleOptions(TokenOptions, OccurrenceOptions):
    """Shingles of a text, with None for a job's default."""


class DocumentOptions(WhereOptions, ReadingOptions, ShingleOptions):
    """Documents and shingles of jobs that compare whole documents.

    A None ``tokenizer`` is words; a None ``ngram`` is 5.
    """

    def with_tokenizer(self, default: str) -> Self:
        """Return these options with a tokenizer, ``default`` if none is given."""
        return self if self.tokenizer is not None else self.but(tokenizer=default)


class BandOptions(SeedOptions):
    """MinHash bands, with None for an option left out."""

    heading = "Matching"

    recall: Number | None = option(
        "Least probability that a match at the threshold is found.",
        Share(),
        default=None,
        usual="0.99",
        metavar="P",
    )
    num_perm: int | None = option(
        "MinHash functions, at most.", Whole(1, 65536), default=None, usual="128"
    )
    bands: tuple[int, int] | str | None = option(
        "Bands and rows, such as 20x5, instead of --recall.",
        BandShape(),
        default=None,
        metavar="BxR",
    )

    @property
    def recall_asked_for(self) -> Fraction:
        """Return the recall as an exact number."""
        return exact_fraction("recall", "0.99" if self.recall is None else self.recall)

    def check_unused(self, where: str, remedy: str) -> None:
        """Raise for options of bands if none are used."""
        names = ("recall", "num_perm", "bands", "seed")
        self.check_left_out(names, where, remedy, "method", "measure")


class WeightOptions(OccurrenceOptions):
    """Weights of shingles, with None for an option left out."""

    tf: TermFrequency | None = option(
        "Weight of a shingle by its frequency in a text.", default=None, usual="raw"
    )
    idf: InverseFrequency | None = option(
        "Weight of a shingle by its rarity among documents.", default=None, usual="smooth"
    )

    def check_no_weights(self, where: str) -> None:
        """Raise for options of weights if nothing is weighted."""
        remedy = "choose measure weighted-jaccard"
        self.check_left_out(("tf", "idf"), where, remedy, "measure")


class WorkerOptions(Options):
    """Number of threads, without effect on the result."""

    heading = "Running"

    workers: int | None = option("Threads.", Whole(1), default=None, usual="one per core")


# The effect of a memory budget, and the memory beyond it, measured in docs/big-collections.md.
BEYOND_BUDGET = (
    "Python and its libraries, 90 MB per thread, and 9 times the longest row come on top."
)


class WorkspaceOptions(Options):
    """Memory budget and temporary files of a job."""

    heading = "Running"

    memory: int | str | None = option(
        "Memory budget, such as 4GB.",
        ByteSize(16_000_000),
        default=None,
        usual="60 % of what is free",
        more=f"It covers tables, blocks and sorts; the rest goes to files. {BEYOND_BUDGET}",
        metavar="SIZE",
    )
    work: str | Path | None = option(
        "Folder for temporary files; a rerun resumes from them.",
        PathOrUrl(),
        default=None,
        usual="beside the output",
        more="A run that fits into --memory writes none, and a rerun starts over. With --engine "
        "spark name a folder that all executors can reach.",
        metavar="DIR",
    )


class KeepOptions(Options):
    """Choice of the documents that stay."""

    heading = "Matching"

    keep: str = option(
        "Keep order: first, longest, shortest, max:COLUMN, min:COLUMN, priority:COLUMN=A,B.",
        default="first",
        more="Several keys are separated by commas; a later key breaks ties.",
    )
    clusters: Clusters = option(
        "Remove documents similar to a kept one, or whole components.",
        default="survivors",
        more="components keeps one document of each connected component of similar documents.",
    )


class IndexTokenizerOptions(Options):
    """Tokenizer of an index that is a file or a function."""

    heading = "Text"

    tokenizer: TokenizerChoice | None = option(
        TokenOptions.known["tokenizer"],
        default=None,
        help="The tokenizer.json file of the index, if it has one.",
        more="",
        usual="",
    )


class OpenOptions(IndexTokenizerOptions):
    """Options of an open index."""

    timeout: float = option(
        "Seconds to wait for the write lock of an index.", Seconds(0), default=5.0
    )


class AgainstDataOptions(Options):
    """Option for a second collection."""

    heading = "Input"

    against: DataOrIndex | None = option(
        "Other collection: files, or the folder of an index.",
        Documents(),
        default=None,
        metavar="OTHER",
    )


class OutputOptions(Options):
    """Options of a result that a command writes."""

    heading = "Output"

    output: Any = option(
        "File or URL to create; - is standard output.",
        PathOrUrl(),
        default=None,
        flags=("-o", "--output"),
        is_required=True,
    )
    overwrite: bool = option("Replace the output if it exists.", default=False)


class TableOptions(OutputOptions):
    """Options of a command that writes one table."""

    differs = but(
        output={
            "more": "The ending decides the format: .parquet, .csv, .jsonl or .xlsx; without one "
            "it is JSON lines."
        }
    )


class FolderOptions(OutputOptions):
    """Options of a command that writes rows into a folder."""

    format: OutputFormat = option(
        "Format of the rows written; none writes no rows.",
        default="same",
        more="none writes the tables and the summary; drop applies them later.",
    )
    differs = but(output={"help": "Folder or URL to create."})


class PrintOptions(Options):
    """Options of printed lines and JSON."""

    heading = "Running"

    quiet: bool = option("Print nothing but errors.", default=False)
    json: bool = option("Print the result as JSON.", default=False)


class CommandOptions(WorkerOptions, PrintOptions):
    """Options of every command that works in threads."""


class EngineOptions(WorkspaceOptions):
    """Options of commands that work in threads or on Spark."""

    engine: Engine = option(
        "Threads of this process, or a Spark session.",
        default="threads",
        more="Spark executors must reach inputs and outputs under the same paths or URLs.",
    )


class ServeOptions(IndexTokenizerOptions, CommandOptions):
    """Address, access and limits of the service."""

    heading = "Service"

    host: str = option(
        "Address to listen at.",
        default="127.0.0.1",
        more="An address that other machines reach needs --token-file.",
        metavar="ADDRESS",
    )
    port: int = option("Port to listen at; 0 takes a free one.", Whole(0, 65535), default=8600)
    token_file: Path | None = option(
        "File with one token per line; other requests are refused.",
        Location(is_file=True),
        default=None,
        more="Each has role=read or role=write, and name=NAME for the log.",
    )
    writable: bool = option("Allow requests to insert and remove documents.", default=False)
    max_body: Any = option(
        "Largest body of a request.",
        ByteSize(1_000_000),
        default=None,
        usual="16MB",
        metavar="SIZE",
    )
    max_seconds: float = option(
        "Longest time for a body, and for an operation.",
        Seconds(0.1),
        default=30.0,
        metavar="SECONDS",
    )
    check: bool = option("Read and verify the indexes and options, then end.", default=False)


# The groups that public functions take as one value each.


class TextOptions(TokenOptions, WeightOptions, SeedOptions):
    """Tokens, shingles and weights of texts, as one value.

    Parameters
    ----------
    {options}

    Raises
    ------
    InvalidParameterError
        If an option is out of range. A function raises it for options that have no effect there.

    Examples
    --------
    >>> import neardup
    >>> names = neardup.TextOptions(tokenizer="characters", ngram=2, strip_accents=True)
    >>> neardup.find_pairs(["Müller", "Muller"], text=names).pairs["similarity"].to_pylist()
    [1.0]
    >>> neardup.similarity("Müller", "Muller", text=names)
    1.0
    >>> names.but(strip_accents=False).ngram
    2
    """

    occurrences: Occurrences | None = None
    differs = but(
        ngram={"usual": "5; 1 for weighted-jaccard and for passages"},
        tf={"usual": "raw; binary for passages"},
        idf={"usual": "smooth; unary for passages and sketches"},
    )


class ReadOptions(WhereOptions, AgainstOptions):
    """Formats, columns and rows of inputs, as one value.

    Parameters
    ----------
    {options}

    Raises
    ------
    InvalidParameterError
        If an option is invalid. A function raises it for options that have no effect there.

    Examples
    --------
    >>> import neardup
    >>> pages = neardup.ReadOptions(text_column="body", where="lang = 'en'", on_error="skip")
    >>> rows = [{"body": "the cat", "lang": "en"}, {"body": "le chat", "lang": "fr"}]
    >>> len(neardup.sketch(rows, read=pages))
    1
    """


class RunOptions(WorkspaceOptions, WorkerOptions):
    """Threads, memory and progress of a job.

    They do not change the result.

    Parameters
    ----------
    {options}

    Raises
    ------
    InvalidParameterError
        If an option is invalid. A function raises it for options that have no effect there.

    Examples
    --------
    >>> import neardup
    >>> small = neardup.RunOptions(workers=1, memory="1GB")
    >>> len(neardup.deduplicate(["a dog", "A dog!"], run=small).removed)
    1
    """

    spark: Any = option(
        "Spark session that does the work instead of threads.",
        default=None,
        more="Its executors need the same version of neardup, and reach inputs and outputs under "
        "the same paths or URLs; memory is that of the driver then.",
    )
    progress: Progress | None = option(
        "Show progress on standard error.",
        FunctionOrFlag(),
        default=None,
        more="A function is called with the name of a stage, the work done so far, and the whole "
        "amount, or None where that is not known.",
    )
    differs = but(work={"usual": "that of the system"})
