"""Options that travel together: how documents are read, cut into shingles, compared, and run."""

from fractions import Fraction
from pathlib import Path
from typing import Self

from neardup.errors import InvalidParameterError
from neardup.options.choices import (
    Clusters,
    ColumnNames,
    Data,
    DataOrIndex,
    DocumentMeasure,
    DocumentUnit,
    Fingerprint,
    InputFormat,
    InverseFrequency,
    Number,
    Occurrences,
    OnError,
    Progress,
    Refresh,
    Side,
    TermFrequency,
    TextFormat,
    TokenizerChoice,
    UnicodeForm,
)
from neardup.options.kinds import (
    ByteSize,
    Choice,
    Columns,
    Delimiter,
    Documents,
    Encoding,
    FunctionOrFlag,
    NameOrNumber,
    OneOf,
    PathOrUrl,
    Seconds,
    Share,
    Tokenizer,
    Whole,
    exact_fraction,
)
from neardup.options.option import Option, Options, but, no_effect, option

BY_ENDING = (
    "What all files are read as, whatever their endings. auto: by ending; a file that is named and "
    "has another one is text, those of a folder are passed over. html: texts are web pages, in "
    "tables too; a file without the ending of a table is one page."
)
_FORMATS = (
    "``text``, ``jsonl``, ``json``, ``csv``, ``tsv``, ``parquet``, ``arrow``, ``html``, ``warc``, "
    "``xlsx``, ``docx``, ``odt``, ``epub`` or ``pdf``: what all files are read as, "
    "whatever their endings."
)
_BY_ENDING_IN_PYTHON = (
    "``auto``: by ending; a file that is named and has another one is text, those of a folder are "
    "passed over and counted in the summary. ``html``: texts are web pages, in the columns of "
    "tables too, and data in memory; a file without the ending of a table is one page."
)


class InputOptions(Options):
    """What input files hold."""

    input_format: InputFormat = option(
        f"{BY_ENDING} bytes: each file is one document, whatever it holds, and its bytes are "
        "tokens.",
        default="auto",
        python=f"{_FORMATS} {_BY_ENDING_IN_PYTHON} ``bytes``: each file is one document, "
        "whatever it holds, and its bytes are tokens.",
    )
    encoding: str | None = option(
        "Encoding of text, CSV, JSON and web pages, by its name in Python, such as latin-1, "
        "cp1252 or utf-16.",
        Encoding(),
        default=None,
        usual="what a page says of itself, else utf-8",
    )
    delimiter: str | None = option(
        "What separates the fields of CSV and TSV: a character, or tab.",
        Delimiter(),
        default=None,
        usual="a comma; a tab for TSV",
    )
    sheet: str | int | None = option(
        "Sheet of a spreadsheet, by its name or its number.",
        NameOrNumber(),
        default=None,
        usual="the first that has rows",
    )
    lines: bool = option("Text files hold one document a line.", default=False)
    document: DocumentUnit | None = option(
        "folder: the files of each folder of INPUT are one document, in the order of their names, "
        "such as a program or a book of several files. Places name the file.",
        Choice(DocumentUnit, "folder or None"),
        default=None,
        usual="a file, or a row of a table",
        python="``folder``: the files of a folder are one document, in the order of their names. "
        "Where one folder is named, each folder in it is a document, with all files below it, and "
        "each file beside such folders; one without folders is a document itself. So is each of "
        "several folders. Files that are named themselves are the document of their folder. "
        "Passages say in which file they begin. None: each file is a document, or each row of a "
        "table.",
    )
    main_text: bool = option(
        "Of web pages the main text counts, without menus and the like, not all that is visible.",
        default=False,
    )

    def check_together(self) -> None:
        """Raise for files that are no single text, where those of a folder are put together."""
        super().check_together()
        if self.document is None:
            return
        if self.lines:
            message = "lines splits a file, and document puts files together; leave one of both out"
            raise InvalidParameterError(message, "lines", "document")
        if self.input_format == "bytes":
            message = (
                "document folder puts texts together, and input_format bytes reads none; leave one "
                "of both out"
            )
            raise InvalidParameterError(message, "document", "input_format")

    @property
    def reads_programs(self) -> bool:
        """Whether programs of a folder are read, which are passed over otherwise."""
        tokenizer, preset = map(vars(self).get, ("tokenizer", "preset"))
        return self.input_format == "auto" and (tokenizer or preset) == "code"

    @property
    def by_ending(self) -> bool:
        """Whether nothing but the endings of programs' files says their languages."""
        return self.reads_programs and vars(self).get("language") is None


class ReadingOptions(InputOptions):
    """What files hold, where text and id of a document are, and what becomes of bad rows."""

    text_column: ColumnNames = option(
        "Column of the text, or a path such as doc.text; several are joined with newlines in the "
        "order given.",
        Columns(),
        default="text",
        python="Name of the column of the text, or a path such as ``doc.text``, or several: their "
        "texts are joined with newlines in that order, a null counting as an empty text; where all "
        "are null the row is bad.",
        is_repeatable=True,
    )
    id_column: str | None = option(
        "Column of the ids; '' for <file>:<row>, or <file> where that is one document.",
        default=None,
        usual="id, if all inputs have one; else ''",
        python="Name of the column of the ids; None: ``id``, if all inputs have one. "
        "Otherwise, and where it is empty, an id is ``<file>:<row>``, or ``<file>`` where that is "
        "one document.",
    )
    on_error: OnError = option(
        "A bad row ends the run, or is left out, counted and named; a job that writes a folder "
        "puts it into skipped/. A column that a whole CSV or Parquet file lacks and an id "
        "that comes twice always end it.",
        default="raise",
        python="``raise`` on a bad row, or ``skip`` it: it is left out, counted and named, and "
        "written to ``skipped/``. An id that comes twice is always an error.",
    )

    @property
    def reads_bytes(self) -> bool:
        """Whether documents are the bytes of files, and no text."""
        return self.input_format == "bytes"

    @property
    def skip_bad(self) -> bool:
        """Whether bad rows are left out."""
        return self.on_error == "skip"

    def check_reads_text(self) -> None:
        """Raise if documents are bytes, where an index has texts."""
        if self.reads_bytes:
            message = (
                "input_format bytes reads no texts, which an index has; name files with against, "
                "or read the files as text"
            )
            raise InvalidParameterError(message, "input_format", "against")


class TextReadingOptions(ReadingOptions):
    """How documents are read by jobs that look into texts, or keep them."""

    input_format: TextFormat = "auto"
    differs = but(
        input_format={
            "kind": Choice(
                TextFormat,
                bytes="bytes are compared by dedup, pairs and sketch; passages, cuts and indexes "
                "need text",
            ),
            "help": BY_ENDING,
            "python": f"{_FORMATS} {_BY_ENDING_IN_PYTHON}",
        }
    )


class WhereOptions(Options):
    """Which rows of the input count."""

    where: str | None = option(
        "Only rows of INPUT that meet this condition on their columns, in SQL, such as "
        "\"status = 200 and lang in ('en', 'de')\"; the others are counted.",
        default=None,
        python="A condition on the columns of the documents in SQL, such as ``status = 200 and "
        "lang in ('en', 'de')``: rows that do not meet it are as if they were not there, and are "
        "counted. Numbers are compared as such, also where a text reads as one, and what is "
        "missing is null.",
        metavar="CONDITION",
    )


class AgainstOptions(ReadingOptions):
    """Where text and id are, also in another collection; None: where they are in the first."""

    against_text_column: ColumnNames | None = option(
        "Column of the text in OTHER; several as of INPUT.",
        Columns(),
        default=None,
        usual="that of INPUT",
        python="Columns of the other collection; None: those of the first.",
        is_repeatable=True,
    )
    against_id_column: str | None = option(
        "Column of the ids in OTHER.",
        default=None,
        usual="as of INPUT",
        python="Columns of the other collection; None: those of the first.",
    )

    def check_other(self, name: str, *, is_given: bool) -> None:
        """Raise if an option of the other collection was given, and that itself was not.

        ``name`` is what names the other collection.
        """
        if not is_given:
            self.check_no_other(f"without {name}", f"give {name}", name)

    def check_no_other(self, where: str, remedy: str, *others: str) -> None:
        """Raise if one of these options was given where no other collection is read.

        ``where``, ``remedy`` and ``others`` are as of ``no_effect``.
        """
        for name in ("against_text_column", "against_id_column"):
            if getattr(self, name) is not None:
                raise no_effect(name, where, remedy, *others)


class TextAgainstOptions(AgainstOptions, TextReadingOptions):
    """Where text and id are in two collections, of jobs that look into texts."""


class NormalOptions(Options):
    """Differences between texts that do not count."""

    casefold: bool | None = option(
        "Upper and lower case are the same.", default=None, usual="for words only"
    )
    unicode_form: UnicodeForm | None = option(
        "Normalise text first.", Choice(UnicodeForm, "NFC, NFKC or None"), default=None
    )
    strip_accents: bool = option("Accents do not count.", default=False)


class TokenOptions(NormalOptions):
    """What texts are cut into: tokens, and shingles of several."""

    tokenizer: TokenizerChoice | None = option(
        "words, whitespace, characters, lines, bytes, code, or the path of a tokenizer.json file.",
        Tokenizer(),
        default=None,
        usual="words",
        python="``words``, ``whitespace``, ``characters``, ``lines``, ``bytes``, ``code`` (what "
        "programs are made of, whatever their names, values and comments), the path of a "
        "``tokenizer.json`` or a function from a text to its tokens. None is ``words``, or "
        "``bytes`` where these are read.",
    )
    language: str | None = option(
        "Language of all programs, such as python, with --tokenizer code.",
        default=None,
        usual="by the ending of each file",
        python="Language of all programs for the tokenizer ``code``, by a name that Pygments has "
        "for it. None: that of each file, by its ending; of data in memory Python.",
    )
    ngram: int | None = option(
        "Tokens in a shingle.", Whole(1, 65536), default=None, usual="5; 1 for weighted-jaccard"
    )


class SeedOptions(Options):
    """What random choices follow from."""

    seed: int | None = option(
        "Selects the hash functions.",
        Whole(0, 2**64 - 1, within="0 and 2^64 - 1"),
        default=None,
        usual="42",
        python="Selects the hash functions; None is 42. Where nothing depends on them it is "
        "refused, as all options are that have no effect.",
    )


class FingerprintOptions(Options):
    """How shingles are hashed."""

    fingerprint: Fingerprint | None = option(
        "How shingles are hashed; the collisions of rabin are bounded, whatever the texts are.",
        default=None,
        usual="mixer",
        python="How shingles are hashed: ``mixer``, or ``rabin`` for Rabin fingerprints, whose "
        "collisions are bounded whatever the texts are; ``seed`` selects their polynomial. "
        "None is ``mixer``.",
    )
    fingerprint_bits: int | None = option(
        "Bits that tell shingles apart: 32, 40 or 64. Of 10,000 shingles two are taken for the "
        "same with probability 0.012, 0.000045 or 3e-12.",
        OneOf(numbers=(32, 40, 64)),
        default=None,
        usual="64",
        python="32, 40 or 64: so many bits tell shingles apart. Of n different ones two are "
        "taken for the same with a probability of about n^2 / 2^(bits + 1). None is 64.",
    )


class OccurrenceOptions(Options):
    """What copies of a shingle count."""

    occurrences: Occurrences | None = option(
        "Shingles as a set, or each copy as an element of its own (multiset).",
        default="set",
        python="``set``, or ``numbered`` for measures of multisets.",
    )


class ShingleOptions(TokenOptions, OccurrenceOptions):
    """How texts become sets of shingles; None stands for what is usual."""


class DocumentOptions(WhereOptions, ReadingOptions, ShingleOptions):
    """How documents are read and become sets of shingles; the same for every job.

    Tokens are words where ``tokenizer`` is None, or bytes if these are read; shingles have 5 where
    ``ngram`` is, and are a set where ``occurrences`` is.
    """

    def with_tokenizer(self, usual: str) -> Self:
        """Return these options with the tokenizer that is usual for texts, if none was given."""
        if not self.reads_bytes:
            return self if self.tokenizer is not None else self.but(tokenizer=usual)
        if self.tokenizer not in (None, "bytes"):
            message = (
                f"tokenizer {self.tokenizer} cuts texts, and input_format bytes reads none; leave "
                "it out, or read the files as text"
            )
            raise InvalidParameterError(message, "tokenizer", "input_format")
        return self.but(tokenizer="bytes")


class BandOptions(SeedOptions):
    """How candidates are found by MinHash bands.

    None stands for the default, so that one that was given where no bands are used is noticed.
    """

    recall: Number | None = option(
        "Least probability that a pair at the threshold is found.",
        Share(),
        default=None,
        usual="0.99",
        python="Least probability, in (0, 1], that a pair at the threshold is found; 1 only "
        "with a threshold of 1. None is 0.99.",
        metavar="P",
    )
    num_perm: int | None = option(
        "MinHash functions at most.",
        Whole(1, 65536),
        default=None,
        usual="128",
        python="Hash functions that may be used for bands; None is 128.",
    )
    bands: int | None = option(
        "Bands, instead of choosing them for the recall.",
        Whole(1),
        default=None,
        python="Use these instead of choosing them for ``recall``.",
    )
    rows: int | None = option(
        "Rows in a band; goes with --bands.",
        Whole(1),
        default=None,
        python="Use these instead of choosing them for ``recall``.",
    )

    @property
    def recall_asked_for(self) -> Fraction:
        """The recall as an exact number."""
        return exact_fraction("recall", "0.99" if self.recall is None else self.recall)

    def check_unused(self, where: str, remedy: str) -> None:
        """Raise if one of these options was given where no bands are used."""
        for name in ("recall", "num_perm", "bands", "rows", "seed"):
            if getattr(self, name) is not None:
                raise no_effect(name, where, remedy, "method", "measure", "top")


class WeightOptions(OccurrenceOptions):
    """What a shingle weighs.

    None stands for the default, so that one that was given for plain sets is noticed.
    """

    tf: TermFrequency | None = option(
        "For weighted-jaccard: what a shingle weighs by how often a document has it.",
        default=None,
        usual="raw",
        python="What a shingle weighs by how often a document has it, for "
        "``weighted-jaccard``: ``raw``, ``binary``, ``log``, ``squared`` or ``saturating``. "
        "None is the first.",
    )
    idf: InverseFrequency | None = option(
        "For weighted-jaccard: what it weighs by how few documents have it.",
        default=None,
        usual="smooth",
        python="That times what it weighs by how few documents have it: ``smooth``, ``unary``, "
        "``standard`` or ``probabilistic``, over all documents that are compared. None is the "
        "first; see ``text.weighting.Weighting``.",
    )

    def check_no_weights(self, where: str) -> None:
        """Raise if one of these options was given where nothing is weighted."""
        for name in ("tf", "idf", "idf_from"):
            if getattr(self, name, None) is not None:
                raise no_effect(name, where, "choose measure weighted-jaccard", "measure")


class CountingOptions(WeightOptions):
    """What a shingle weighs where documents are counted for that, or others instead of them."""

    idf_from: Data | None = option(
        "For weighted-jaccard: count the documents of these files instead of those that are "
        "compared; may be given several times.",
        default=None,
        python="Documents that are counted for ``idf`` instead of those that are compared, in "
        "any form that these may have.",
        metavar="OTHER",
        is_repeatable=True,
    )


class ProgressOptions(Options):
    """How a job says what it is doing."""

    progress: Progress | None = option(
        "Show progress, or call a function with the name of a stage, the work done, and its "
        "amount.",
        FunctionOrFlag(),
        default=None,
        python="True shows it on standard error: bars on a terminal and in a notebook, else a "
        "line a minute. A function is called with a stage's name, the work done so far, and "
        "its amount, None if that is not known: bytes of the files while these are read, else "
        "documents, pairs or the like.",
    )


class WorkerOptions(ProgressOptions):
    """How a job runs, whatever it does: the result does not depend on it."""

    workers: int | None = option(
        "Threads.",
        Whole(1),
        default=None,
        usual="one a core",
        python="Threads; None is one a core. The result does not depend on it.",
    )


# What a budget bounds, and what a run takes beyond it, as measured in docs/big-collections.md.
BUDGET = "Memory for tables, blocks and sorts, such as 4GB"
BEYOND_BUDGET = "Python and its libraries, 90 MB a thread, and 9 times the longest row come on top."


class WorkspaceOptions(Options):
    """What a job may use beside its threads."""

    memory: int | str | None = option(
        f"{BUDGET}; what does not fit goes to files in --work. {BEYOND_BUDGET}",
        ByteSize(16_000_000),
        default=None,
        usual="60 % of what is free",
        python=f"{BUDGET}, or in bytes; None is 60 % of what is free. What does not fit goes to "
        f"files. {BEYOND_BUDGET}",
        metavar="SIZE",
    )
    work: str | Path | None = option(
        "Folder for temporary files. A rerun resumes from them; a run that fits in --memory has "
        "none, and a rerun starts over.",
        PathOrUrl(),
        default=None,
        usual="beside the output",
        python="Folder for these files, which go with the result; None is where the system "
        "has temporary files.",
        metavar="DIR",
    )


# What several jobs have, each in its own words.

THRESHOLD = Option(
    "Least similarity, in (0, 1]; an exact decimal.",
    Share(),
    python="Least similarity, in (0, 1], taken as the exact decimal; equal counts as similar.",
    metavar="T",
)
MEASURE = Option(
    "Similarity of two documents.",
    Choice(DocumentMeasure),
    python="``jaccard``, ``cosine``, ``dice``, ``containment`` (how much of the document that "
    "would go is in the one that stays), ``max-containment`` or ``weighted-jaccard`` (with weights "
    "by ``tf`` and ``idf``).",
)
LIMIT = Option(
    "End with an error at more than N pairs.",
    Whole(1),
    python="Raise an error at more pairs than this.",
    metavar="N",
)
MIN_TOKENS = Option(
    "Tokens of the shortest passage that is found for certain.",
    Whole(1, 65536, within="1 and 65,536"),
    usual="50",
    python="Tokens of the shortest passage to be found for certain, ``ngram`` to 65,536.",
)
WITH_TEXT = Option("Add the passages' texts.", python="Add the columns query_text and doc_text.")
# What functions work on.
DATA = (
    "A path, glob or URL as a string; a list of ``pathlib.Path``; a list of strings (texts) "
    "or of dictionaries; or anything with ``__arrow_c_stream__``: pandas, Polars, DuckDB, Arrow, "
    "Hugging Face datasets; a ``pyarrow.dataset.Dataset`` is read bit by bit. A set is refused: it "
    "has no order."
)
DOCUMENTS = "Documents, in any form that ``deduplicate`` takes."


class KeepOptions(Options):
    """Which of similar documents stay."""

    keep: str = option(
        "Which of similar documents stays: first, longest, shortest, max:COLUMN, min:COLUMN or "
        "priority:COLUMN=A,B,C; or several, parted by commas: where two are equal by one, the next "
        "decides.",
        default="first",
        python="``first``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN`` or "
        "``priority:COLUMN=A,B,C``; or several, parted by commas, such as "
        "``max:score,max:date,longest``: where two documents are equal by one, the next decides, "
        "and in the end the input order.",
    )
    clusters: Clusters = option(
        "Remove what is similar to a document that stays, or all but one of every chain.",
        default="survivors",
        python="``survivors``, or ``components``: only the first document of every connected "
        "component of similar documents stays.",
    )


class OpenOptions(Options):
    """How an index is opened."""

    tokenizer: TokenizerChoice | None = option(
        TokenOptions.known["tokenizer"],
        default=None,
        help="The tokenizer.json file that the index was made with, if it was one.",
        usual="",
        python="Has to be given where a ``tokenizer.json`` file or a function was used.",
    )
    timeout: float = option(
        "Seconds to wait for the write lock of an index.",
        Seconds(0),
        default=5.0,
        python="Seconds to wait where another process, thread or object holds the write lock; "
        "0 does not wait. Five of them outlast a commit or a small addition, as in "
        "``sqlite3``.",
    )
    refresh: Refresh = option(
        "Whether each look-up sees what others have committed since the last one.",
        default="auto",
        python="``auto``: each look-up sees what others have committed before it, which costs "
        "some microseconds to find out. ``manual``: ``refresh`` is called for that.",
    )


class AgainstDataOptions(Options):
    """Other documents that the documents are compared with."""

    against: DataOrIndex | None = option(
        "Also remove what is similar to a document of these files, or of this index; files may "
        "be given several times.",
        Documents(),
        default=None,
        metavar="OTHER",
        is_repeatable=True,
    )


class NamedOptions(Options):
    """What a table names, and how much of it."""

    named_in: Data | None = option(
        "Cut out what this table names instead: passages that `neardup align` or `neardup "
        "search` has written, or the removed.parquet of a cut.",
        default=None,
        python="A table that says what goes: the result of ``align``, ``search`` or ``cut``, "
        "any Arrow table, or the path of one. Only ``side``, ``keep`` and "
        "``replacement`` go with it, and how documents are read. Of two documents of ``data`` "
        "the later in keep order loses its passage, unless what it is like goes, too.",
        metavar="FILE",
    )
    side: Side | None = option(
        "Which passages of FILE go. Needed if INPUT has ids of both sides, but is one of them.",
        default=None,
        usual="the side that INPUT is; of documents that are compared with each other the "
        "later one",
        python="Which passages of that table go: ``query`` or ``doc``. None: those of the side "
        "whose ids ``data`` has, and if it has both, one of each pair.",
    )
