"""The options of jobs that compare whole documents, and of what is done with their results."""

from collections.abc import Mapping
from typing import Any

from neardup.errors import InvalidParameterError
from neardup.options.choices import (
    Algorithm,
    ColumnNames,
    DocumentMeasure,
    DocumentPreset,
    Method,
    Missing,
    Number,
    Occurrences,
    PairMeasure,
    PairMethod,
    SimilarityMeasure,
    TokenizerChoice,
)
from neardup.options.groups import (
    LIMIT,
    MEASURE,
    THRESHOLD,
    WITH_TEXT,
    AgainstOptions,
    BandOptions,
    CountingOptions,
    DocumentOptions,
    KeepOptions,
    OpenOptions,
    ReadingOptions,
    ShingleOptions,
    TextAgainstOptions,
    TextReadingOptions,
    TokenOptions,
    WeightOptions,
    WhereOptions,
)
from neardup.options.kinds import (
    Choice,
    Columns,
    ShareOrCount,
    Whole,
)
from neardup.options.option import Options, but, no_effect, option
from neardup.options.presets import Preset, PresetOptions, preset_option


class DocumentPresetOptions(PresetOptions):
    """What documents are, which decides how they are compared."""

    preset: DocumentPreset | None = preset_option(
        DocumentPreset,
        *("tokenizer", "casefold", "ngram", "threshold", "num_perm"),
        python="; the threshold only for measure ``jaccard``",
    )

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what is chosen for documents; the threshold is one of Jaccard similarities."""
        row = dict(preset.documents or {})
        names = ("measure", "max_distance", "top")
        measure, *others = (given.get(name) for name in names)
        if measure not in (None, "jaccard") or others != [None, None]:
            row.pop("threshold", None)
        # Hash functions have no effect on exact joins, which are usual for pairs.
        method = cls.known.get("method")
        if method and (given.get("method") or method.default) not in ("minhash", "auto"):
            row.pop("num_perm", None)
        return row

    def check_no_preset(self) -> None:
        """Raise if a preset was given beside an index, which has its own options."""
        if self.preset is not None:
            where = "with an index, which was made for its documents"
            raise no_effect("preset", where, "name files with against", "against")


class SparkOptions(
    DocumentPresetOptions,
    KeepOptions,
    BandOptions,
    WeightOptions,
    DocumentOptions,
    AgainstOptions,
):
    """Everything that decides the result of a deduplication on Spark."""

    # None stands for the default, so that one that was given beside an index is noticed.
    measure: DocumentMeasure | None = option(
        MEASURE,
        default=None,
        usual="jaccard; that of an index",
        python=f"{MEASURE.python} None is that of an index, else Jaccard similarity.",
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        usual="0.8; that of an index",
        python=f"{THRESHOLD.python} None is 0.8, or that of an index, which can be asked for "
        "this or a higher one.",
    )
    occurrences: Occurrences | None = None
    add: bool = option(
        "Add what stays to the index that --against names; where there is none, it is made by the "
        "options of this run.",
        default=False,
        python="Add what stays to the index, which is made by these options where there is none, "
        "at the very end, all of it or nothing; texts that "
        "went are noted with what they went for. With ``keep`` first, batches that are added "
        "one after the other give the documents that stay and go, keepers and similarities of "
        "one run over all of them, at the bands of the index. Ids are those of one collection: "
        "none gets ``against/`` in front, and what stays must have new ones.",
    )
    differs = but(
        occurrences={
            "usual": "set",
            "python": "``set``, or ``numbered`` for measures of multisets; None is ``set``, or as "
            "an index has it.",
        }
    )


class DedupOptions(SparkOptions):
    """Everything that decides the result of ``deduplicate``."""

    method: Method = option(
        "How similar documents are found: by sketches, exactly, or exactly where that is not "
        "much more work.",
        default="minhash",
        python="``minhash``, ``exact``, which misses no similar document, or ``auto``: exact "
        "where that is not much more work than sketches, by what is counted on a sample of the "
        "texts. ``exact`` takes none of ``recall``, ``num_perm``, ``bands``, ``rows``, "
        "``seed`` and ``audit``.",
    )
    audit: int | None = option(
        "Compare N documents with all others exactly and report the recall seen.",
        Whole(1),
        default=None,
        python="Compare so many distinct texts, drawn by the seed, with all others exactly, "
        "and report what share of the similar pairs the sketches have found.",
        metavar="N",
    )
    differs = but(
        keep={
            "help": f"{KeepOptions.known['keep'].help} With --method exact also none: remove every "
            "document that has an exact copy, and no near-duplicates.",
            "python": f"{KeepOptions.known['keep'].python} With method ``exact`` also ``none``: "
            "every document goes that has an exact copy, a document with the same tokens, and "
            "no near-duplicate does. Each names one of its copies.",
        }
    )


class ChooseOptions(WhereOptions, KeepOptions, ReadingOptions):
    """Everything that decides the result of ``choose``."""

    measure: DocumentMeasure | None = option(
        MEASURE,
        default=None,
        usual="that of the pairs",
        python="By which measure the pairs were found, if they do not say it: results and "
        "Parquet files do, CSV, JSON lines and data frames do not.",
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        usual="that of the pairs",
        python="Least similarity, in (0, 1], taken as the exact decimal; not below that of the "
        "pairs. None is that of the pairs. Where they do not say it, their least similarity is "
        "taken for it.",
    )


class PairOptions(
    DocumentPresetOptions, BandOptions, CountingOptions, DocumentOptions, AgainstOptions
):
    """Everything that decides the result of ``find_pairs``."""

    measure: PairMeasure | None = option(
        MEASURE,
        default=None,
        kind=Choice(PairMeasure),
        usual="jaccard; edit with --max-distance",
        python="``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (how much of "
        "a lies in b), ``max-containment``, ``overlap`` (the number of common shingles), "
        "``weighted-jaccard`` (with weights by ``tf`` and ``idf``), ``hamming`` (the number of "
        "shingles that one of the two lacks), or ``edit`` (insertions, deletions and "
        "substitutions of tokens; the default with ``max_distance``).",
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        kind=ShareOrCount(),
        help="Least similarity, in (0, 1], an exact decimal; for overlap a number of shingles.",
        usual="0.8; with --top any",
        python="Least similarity, in (0, 1], taken as the exact decimal; for ``overlap`` a "
        "whole number, for ``edit`` that of 1 - distance / length of the longer text. None is "
        "0.8, or any similarity above 0 with ``top``.",
    )
    max_distance: int | None = option(
        "Most edits (insertions, deletions, substitutions), instead of a threshold; for "
        "hamming most shingles that one of two documents lacks.",
        Whole(0),
        default=None,
        python="Most edits, instead of a threshold; the most that ``hamming`` may be.",
        metavar="D",
    )
    top: int | None = option(
        "Only the K most similar pairs; with --max-distance those of least distance.",
        Whole(1),
        default=None,
        python="Only so many pairs, the most similar ones, or those of least distance where "
        "``max_distance`` is given; ties in input order.",
        metavar="K",
    )
    per_document: bool = option(
        "Only the --top K partners of each document of INPUT.",
        default=False,
        python="Only the ``top`` most similar partners of each document of ``left``. In a "
        "self-join a pair may so come in both directions.",
    )
    one_to_one: bool = option(
        "No document in more than one pair: of all pairs found, the most similar first, those "
        "of which neither document is in one already.",
        default=False,
        python="No document is in more than one pair: of all pairs that would be found, the "
        "most similar first, each stays of which neither document is in one that does; ties in "
        "input order.",
    )
    blocking: ColumnNames | None = option(
        "Compare only documents with equal values in this column; of several columns in all "
        "of them.",
        Columns(),
        default=None,
        python="A column, or several: only documents with equal values in all of them are "
        "compared. Values are equal that are as text; a document without one is in no pair.",
        metavar="COLUMN",
        is_repeatable=True,
    )
    also: ColumnNames | None = option(
        "Only pairs with equal values in this column, unless one of the two documents has none; "
        "may be given several times.",
        Columns(),
        default=None,
        python="A column, or several: of the pairs found only those stay whose documents have "
        "equal values there, as text. A pair stays, too, if one of its documents has no value: "
        "null, or text of spaces alone. Not with ``top``.",
        metavar="COLUMN",
        is_repeatable=True,
    )
    with_columns: ColumnNames | None = option(
        "Add these columns of both documents, title as title_a and title_b; several are parted "
        "by commas, or given one by one.",
        Columns(),
        default=None,
        python="A column, or several: what the documents of a pair have there is in the "
        "result, for a column ``title`` as ``title_a`` and ``title_b``. A collection may lack "
        "it, but not both.",
        flags=("--columns",),
        metavar="COLUMNS",
        is_repeatable=True,
    )
    method: PairMethod | None = option(
        "Miss no pair, or as many as --recall allows and be faster on large collections.",
        default=None,
        usual="exact; minhash with an index",
        python="``exact``, the default but for an index: none is missed. ``minhash``: "
        "documents that share a MinHash band are compared, exactly, so that every pair is "
        "right and a pair at the threshold is found with the probability ``recall``; only then "
        "``recall``, ``num_perm``, ``bands`` and ``rows`` are of use.",
    )
    algorithm: Algorithm | None = option(
        "Filters that the exact method uses; the pairs are the same. auto chooses by the data.",
        default=None,
        usual="auto",
        python="``allpairs``, ``ppjoin`` or ``ppjoin+``: different filters of method "
        "``exact``, the same pairs; not for ``weighted-jaccard``. ``auto``, the default, "
        "chooses by the data.",
    )
    limit: int | None = option(LIMIT, default=None)
    occurrences: Occurrences = "set"
    differs = but(
        tokenizer={
            "usual": "words; characters for edit",
            "python": "How texts become shingles: ``words``, ``whitespace``, ``characters``, "
            "``lines``, ``bytes``, ``code``, the path of a ``tokenizer.json`` or a function from a "
            "text to its tokens. None is ``words``, for ``edit`` ``characters``, or ``bytes`` "
            "where these are read.",
        },
        ngram={
            "usual": "5; 1 for weighted-jaccard, chosen for edit",
            "python": "Tokens in a shingle; None is 5, or 1 for ``weighted-jaccard``. For ``edit`` "
            "the size of the q-grams that find candidates, which changes the time, not the pairs.",
        },
    )

    @property
    def blocking_columns(self) -> tuple[str, ...]:
        """The columns in which documents have to agree; empty for none."""
        return _names(self.blocking)

    @property
    def equal_columns(self) -> tuple[str, ...]:
        """The columns in which pairs have no different values; empty for none."""
        return _names(self.also)

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns of both documents that a pair is given; empty for none."""
        return _names(self.with_columns)

    @property
    def is_of_edits(self) -> bool:
        """Whether texts are compared by their edit distances."""
        usual = "edit" if self.max_distance is not None else "jaccard"
        return (self.measure or usual) == "edit"

    @property
    def may_look_up(self) -> bool:
        """Whether an index can be looked up in; other options need all of its texts."""
        needs_all = (
            *(self.top, self.max_distance, self.algorithm, self.blocking, self.also),
            self.with_columns,
            self.one_to_one or None,
            self.measure in ("edit", "overlap", "hamming") or None,
        )
        return self.method == "minhash" or (self.method is None and set(needs_all) == {None})


def _names(named: ColumnNames | None) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else tuple(named or ())


class DocumentSchemeOptions(DocumentPresetOptions, BandOptions, WeightOptions, ShingleOptions):
    """Everything that decides the answers of an index of documents."""

    measure: DocumentMeasure = option(
        MEASURE,
        default="jaccard",
        python=f"{MEASURE.python} Of directed ones the text that is looked up is the first.",
    )
    threshold: Number = option(
        THRESHOLD,
        default="0.8",
        help="Least similarity that can be asked for, in (0, 1]; an exact decimal.",
        python="Least similarity that can be asked for, in (0, 1], taken as the exact decimal.",
    )
    tokenizer: TokenizerChoice = "words"
    occurrences: Occurrences = "set"
    columns: ColumnNames | None = option(
        "Keep this column of the input with each document; may be given several times.",
        Columns(),
        default=None,
        python="Columns of the input that are kept with each document.",
        flags=("--keep-column",),
        metavar="COLUMN",
        is_repeatable=True,
    )
    with_text: bool = option(
        WITH_TEXT,
        default=True,
        help="Keep the texts.",
        python="Keep the texts, compressed. Without them the hashes of their shingles are "
        "kept, which take more room than short words do, and nobody can read.",
    )
    differs = but(
        idf={
            "python": "That times what it weighs by how few documents have it: ``smooth``, "
            "``unary``, ``standard`` or ``probabilistic``, over those of the first addition. None "
            "is the first."
        }
    )


class MostOptions(Options):
    """How many documents are found."""

    limit: int | None = option(
        LIMIT,
        default=None,
        help="Only the N most similar documents.",
        python="Only so many, the most similar.",
    )
    top: int | None = option(
        PairOptions.known["top"],
        default=None,
        help="Documents: only the K that are most similar to each query, also below the threshold "
        "of the index, where the less are found the less similar they are.",
        python="Only so many, the most similar of all that can be found: also below the threshold "
        "of the index, where the less are found the less similar they are, see ``recall_at``. A "
        "``threshold`` may be any then, and is none if it is not given.",
    )

    @property
    def number(self) -> int | None:
        """How many documents of each query at most; None for all."""
        return self.top or self.limit

    def check_together(self) -> None:
        """Raise for two numbers of documents."""
        super().check_together()
        if self.limit is not None and self.top is not None:
            message = "choose either limit, which stays above the threshold of the index, or top"
            raise InvalidParameterError(message, "limit", "top")


class DocumentSearchOptions(WhereOptions, MostOptions, TextReadingOptions):
    """What decides the result of a search for documents."""

    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Least similarity, in (0, 1], not below that of the index; an exact decimal.",
        usual="that of the index",
        python="Least similarity, not below that of the index unless ``top`` is given; an exact "
        "decimal. None is that of the index, and with ``top`` none.",
    )


class FoundOptions(Options):
    """Which documents of an index are found in Python, and what is told of them."""

    doc_where: str | None = option(
        "Only documents of the index that meet this condition on ``id``, ``text`` and the columns "
        "that it keeps; ``limit`` and ``top`` count these.",
        default=None,
    )
    with_columns: bool = option("The columns that the index keeps, as ``doc_NAME``.", default=False)


class CommitOptions(OpenOptions):
    """How an index is opened into which documents are inserted one by one."""

    commit_every: int | None = option(
        "Commit after so many insertions.",
        Whole(1),
        default=None,
        python="Commit after so many insertions; None leaves it to ``commit``.",
    )


class ReportOptions(TextAgainstOptions):
    """How the result and the documents it names are read."""


class ReviewOptions(TextAgainstOptions):
    """Which pairs a page has to be judged, and what it shows of them."""

    limit: int = option(
        "Most pairs of the page, the least certain ones; it says how many are left out.",
        Whole(1),
        default=20_000,
        python="Most pairs of the page: those nearest to the best threshold by ``labels``, without "
        "these to what parts similarities into two groups (Otsu). The page says how many are left "
        "out. All that are labelled are there.",
        metavar="N",
    )
    with_columns: ColumnNames | None = option(
        PairOptions.known["with_columns"],
        default=None,
        help="Columns of INPUT that are shown; several are parted by commas, or given one by one.",
        usual="all, the text first",
        python="Columns of the documents that are shown; None: all but the ids, the text first.",
    )

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns that are shown; empty for all."""
        return _names(self.with_columns)


class DropOptions(WhereOptions, ReadingOptions):
    """What decides which documents go."""

    column: str | None = option("Column of FILE with the ids.", default=None, usual="doc_id")
    missing: Missing = option(
        "An id in FILE that no document has ends the run, or is counted only.", default="raise"
    )


class SimilarityOptions(WeightOptions, TokenOptions):
    """Everything that decides how similar two texts are."""

    measure: SimilarityMeasure | None = option(
        MEASURE,
        default=None,
        kind=Choice(SimilarityMeasure),
        usual="jaccard",
        python="``jaccard`` (the default), ``cosine``, ``dice``, ``containment`` (how much of "
        "the first text lies in the second), ``max-containment``, ``overlap`` (the number of "
        "common shingles), ``weighted-jaccard`` (with weights by ``tf`` and ``idf``), or ``edit`` "
        "(1 - insertions, deletions and substitutions of tokens / length of the longer text).",
    )
    occurrences: Occurrences = "set"
    differs = but(
        tokenizer={
            "usual": "words; characters for edit",
            "python": "``words``, ``whitespace``, ``characters``, ``lines``, ``bytes``, ``code``, "
            "the path of a ``tokenizer.json``, which is read once, or a function from a text to "
            "its tokens. None is ``words``, for ``edit`` ``characters``.",
        },
        ngram={"usual": "1", "python": "Tokens in a shingle; None is 1. Not for ``edit``."},
        idf={
            "usual": "unary",
            "python": "That times what it weighs by how few texts have it: ``unary``, "
            "``smooth``, ``standard`` or ``probabilistic``, over all that are compared. None is "
            "the first.",
        },
    )


class ExtractOptions(SimilarityOptions):
    """Everything that decides which texts are the most similar."""

    limit: int = option("So many texts at most.", Whole(1), default=5)
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        kind=ShareOrCount(),
        help="Least similarity, in (0, 1], an exact decimal; for overlap a number of shingles.",
        usual="any above 0",
        python="Least similarity, in (0, 1], taken as the exact decimal; for ``overlap`` a whole "
        "number. None: any above 0.",
    )
