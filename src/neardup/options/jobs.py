"""The options of each job; what it shares with others comes from the groups that it extends."""

from pathlib import Path
from typing import Literal

from neardup.errors import InvalidParameterError
from neardup.options.choices import (
    Algorithm,
    AlignmentSummary,
    Clusters,
    ColumnNames,
    CutUnit,
    Data,
    DocumentMeasure,
    EstimatedMeasure,
    InverseFrequency,
    Method,
    Missing,
    MissingValues,
    Number,
    Occurrences,
    PairMeasure,
    PairMethod,
    PresetName,
    Refresh,
    Report,
    Representative,
    Side,
    SketchKindName,
    TermFrequency,
    TokenizerChoice,
    WindowHash,
)
from neardup.options.groups import (
    AgainstOptions,
    BandOptions,
    CountingOptions,
    DocumentOptions,
    ReadingOptions,
    SeedOptions,
    ShingleOptions,
    TextAgainstOptions,
    TextReadingOptions,
    TokenOptions,
    WeightOptions,
)
from neardup.options.kinds import (
    Choice,
    Columns,
    Conditions,
    CountOrPercent,
    Documents,
    Positive,
    Seconds,
    Share,
    ShareOrCount,
    Whole,
)
from neardup.options.option import Option, Options, but, no_effect, option

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


# What functions work on.
DATA = (
    "A path, glob or URL as a string; a list of ``pathlib.Path``; a list of strings (texts) "
    "or of dictionaries; or anything with ``__arrow_c_stream__``: pandas, Polars, DuckDB, Arrow, "
    "Hugging Face datasets; a ``pyarrow.dataset.Dataset`` is read bit by bit."
)
DOCUMENTS = "Documents, in any form that ``deduplicate`` takes."


class ByOptions(Options):
    """By what documents are counted, too."""

    by: str | None = option(
        "Also count documents by the values of this column of INPUT.",
        default=None,
        python="Column of the documents, such as their source, by whose values they are "
        "counted, too, in the summary and the tables of the result.",
        metavar="COLUMN",
    )


class TrustOptions(Options):
    """Whether tables may have changed."""

    trust: bool = option(
        "Take tables, and the summary.json beside them, as they are: somebody has changed them "
        "on purpose since they were written.",
        default=False,
        python="Take tables of an output folder as they are, also where its ``summary.json`` "
        "has another digest of them: they have changed since they were written.",
    )


class KeepOptions(ByOptions):
    """Which of similar documents stay."""

    keep: str = option(
        "Which of similar documents stays: first, longest, shortest, max:COLUMN, min:COLUMN or "
        "priority:COLUMN=A,B,C.",
        default="first",
        python="``first``, ``longest``, ``shortest``, ``max:COLUMN``, ``min:COLUMN`` or "
        "``priority:COLUMN=A,B,C``; ties by input order.",
    )
    clusters: Clusters = option(
        "Remove what is similar to a document that stays, or all but one of every chain.",
        default="survivors",
        python="``survivors``, or ``components``: only the first document of every connected "
        "component of similar documents stays.",
    )


class SparkOptions(KeepOptions, BandOptions, CountingOptions, DocumentOptions, AgainstOptions):
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
    differs = but(
        occurrences={
            "usual": "set",
            "python": "``set``, or ``numbered`` for measures of multisets; None is ``set``, or as "
            "an index has it.",
        },
    )


class DedupOptions(SparkOptions):
    """Everything that decides the result of ``deduplicate``."""

    add: bool = option(
        "Add what stays to the index that --against names.",
        default=False,
        python="Add what stays to the index, at the very end, all of it or nothing; texts that "
        "went are noted with what they went for. With ``keep`` first, batches that are added "
        "one after the other give the documents that stay and go, keepers and similarities of "
        "one run over all of them, at the bands of the index. Ids are those of one collection: "
        "none gets ``against/`` in front, and what stays must have new ones.",
    )
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


class ChooseOptions(KeepOptions, TrustOptions, ReadingOptions):
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


class PairOptions(BandOptions, CountingOptions, DocumentOptions, AgainstOptions):
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
        "Only pairs that are also similar in another column, as title:jaccard:0.5 says; by "
        "jaccard, cosine, dice, containment, max-containment or edit. May be given several "
        "times.",
        Conditions(),
        default=None,
        python="Only pairs that are also similar in other columns: ``title:jaccard:0.5``, or a "
        "list of such, by a measure of sets or ``edit``. Values are compared as texts, by "
        "single tokens unless ``ngram`` was given, exactly; the result has the similarity as "
        "``similarity_title``. Not with ``top``.",
        metavar="COLUMN:MEASURE:THRESHOLD",
        is_repeatable=True,
    )
    also_missing: MissingValues | None = option(
        "Whether pairs stay of which a document has no value in a column of --also, which "
        "decides nothing then.",
        default=None,
        usual="keep",
        python="``keep`` (the default): a pair of which a document has no value in such a "
        "column, or one without tokens, is not judged by it, and its similarity there is null. "
        "``drop``: it is left out.",
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
        "``recall``, ``num_perm``, ``bands``, ``rows``, ``memory`` and ``work`` are of use.",
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
            "``lines``, ``bytes``, the path of a ``tokenizer.json`` or a function from a text to "
            "its tokens. None is ``words``, for ``edit`` ``characters``, or ``bytes`` where these "
            "are read.",
        },
        ngram={
            "usual": "5; 1 for weighted-jaccard, chosen for edit",
            "python": "Tokens in a shingle; None is 5, or 1 for ``weighted-jaccard``. For ``edit`` "
            "the size of the q-grams that find candidates, which changes the time, not the pairs.",
        },
        fingerprint={
            "python": "How shingles are hashed: ``mixer``, or ``rabin`` for Rabin fingerprints, "
            "whose collisions are bounded whatever the texts are; ``seed`` selects their "
            "polynomial. None is ``mixer``. Not for ``edit``, nor are the bits.",
        },
    )

    @property
    def blocking_columns(self) -> tuple[str, ...]:
        """The columns in which documents have to agree; empty for none."""
        return _names(self.blocking)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What pairs have to fulfil in other columns; empty for nothing."""
        return _names(self.also)

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns of both documents that a pair is given; empty for none."""
        return _names(self.with_columns)

    @property
    def may_look_up(self) -> bool:
        """Whether an index can be looked up in; other options need all of its texts."""
        needs_all = (
            *(self.top, self.max_distance, self.algorithm, self.blocking, self.also),
            *(self.also_missing, self.with_columns),
            self.one_to_one or None,
            self.measure in ("edit", "overlap", "hamming") or None,
        )
        return self.method == "minhash" or (self.method is None and set(needs_all) == {None})


def _names(named: ColumnNames | None) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else tuple(named or ())


class PassageSchemeOptions(SeedOptions, TokenOptions):
    """What decides an index of passages, but for ``min_tokens``; None is the default."""

    num_perm: int | None = option(
        BandOptions.known["num_perm"],
        default=None,
        kind=Whole(8, 1024, within="8 and 1,024"),
        help="Hash functions.",
        usual="64",
        python="Hash functions, 8 to 1,024; None is 64. More of them find passages with fewer "
        "vain comparisons; the index grows with their number.",
    )
    tf: TermFrequency | None = option(
        WeightOptions.known["tf"],
        default=None,
        help="What a token weighs by how often a passage has it; binary: once is enough.",
        usual="binary",
        python="What a token, or a shingle, weighs: ``binary`` (once is as good as often; the "
        "default), ``raw``, ``log``, ``squared`` or ``saturating``.",
    )
    idf: InverseFrequency | None = option(
        WeightOptions.known["idf"],
        default=None,
        help="What it weighs by how few documents have it; unary: all the same.",
        usual="unary",
        python="That times ``unary`` (1; the default), ``standard``, ``smooth`` or "
        "``probabilistic``, counted over the documents of the first addition.",
    )
    differs = but(
        ngram={
            "help": "Tokens in a shingle; passages are compared by their shingles.",
            "usual": "1",
            "python": "Tokens in a shingle, 1 to 65,536; None is 1. Passages are compared by their "
            "shingles, runs of ``ngram`` tokens, so that the order of words counts; 1: by their "
            "tokens.",
        },
    )


MIN_TOKENS = Option(
    "Tokens of the shortest passage that is found for certain.",
    Whole(1, 65536, within="1 and 65,536"),
    usual="50",
    python="Tokens of the shortest passage to be found for certain, ``ngram`` to 65,536.",
)


class PassageOptions(PassageSchemeOptions):
    """Everything that decides an index of passages."""

    min_tokens: int = option(MIN_TOKENS, default=50, usual="")
    num_perm: int = 64
    tf: TermFrequency = "binary"
    idf: InverseFrequency = "unary"
    seed: int = 42
    tokenizer: str | Path = "words"
    ngram: int = 1


class HitsOptions(Options):
    """How surely a window is found."""

    recall: Number | None = option(
        BandOptions.known["recall"],
        default=None,
        help="Least probability that a window at the threshold is found.",
        python="Least probability with which a window at the threshold is found; a longer "
        "passage holds several. None is 0.99.",
    )
    hits: int | None = option(
        "Min-hashes in common at least, instead of choosing their number for the recall.",
        Whole(1),
        default=None,
        python="Least number of min-hashes that a window has in common with a passage, instead "
        "of choosing it for the recall; ``num_perm * threshold``, rounded up: all whose "
        "estimated similarity reaches the threshold, and no others.",
        metavar="N",
    )

    def check_together(self) -> None:
        """Raise if both are given."""
        if self.recall is not None and self.hits is not None:
            message = (
                "recall chooses hits, so that only one of them can be given; leave out the other"
            )
            raise InvalidParameterError(message, "recall", "hits")


class AlignOptions(HitsOptions, TextAgainstOptions):
    """What decides the result of an alignment."""

    preset: PresetName | None = option(
        "What passages are looked for; chooses --threshold, --min-tokens, --gap and --idf "
        "where they are not given.",
        default=None,
        python="What passages are looked for: ``editions``, long texts that were revised; "
        "``quotations``, a line or two each; ``rewording``, sentences in other words. It "
        "chooses ``threshold``, ``min_tokens``, ``gap`` and ``idf`` where these are not given; "
        "an index has its own ``min_tokens`` and ``idf``.",
        flags=("--for",),
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Least similarity of two passages, in (0, 1]; an exact decimal.",
        usual="0.5",
        python="Least similarity of two passages, in (0, 1], taken as the exact decimal. None: "
        "0.5.",
    )
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1),
        help="Tokens of the shortest passage, in either text.",
        usual="50; that of the index",
        python="Tokens of the shortest passage to report; of either text, because one may have "
        "lost some. Passages of so many (with an index: of one and a half times its "
        "``min_tokens``) are sure to hold a window that is looked up. None: 50, or the "
        "index's.",
    )
    gap: int | None = option(
        "Tokens of either text that may lie between two parts of a passage, whatever these "
        "share: more keep editions in one piece, fewer keep quotations apart.",
        Whole(0),
        default=None,
        usual="five for each token shared on the lesser side of the gap",
        python="Tokens of either text that may lie between two parts of a passage: that one "
        "text lacks, or has otherwise. More keep editions in one piece, fewer keep quotations "
        "apart. None: as many as the parts carry, five for each token shared on the lesser "
        "side.",
        metavar="TOKENS",
    )
    max_documents: int | str | None = option(
        "Leave out what more than N documents have, of OTHER or else of INPUT, such as "
        "licences and headers; P% is a share of them, of two at least.",
        CountOrPercent(),
        default=None,
        python="Leave out what more than so many documents of ``b``, or else of ``a``, have, "
        'such as licences and headers; ``"10%"`` is a share of them, of two at least.',
        metavar="N|P%",
    )
    within: bool = option(
        "Without --against: also passages that a document has twice.",
        default=False,
        python="Without ``b``: find also passages that one document has twice; the earlier "
        "place is the query's, and the two do not overlap.",
    )
    summary: AlignmentSummary | None = option(
        "documents: one row a pair of documents, with how much of either the other has.",
        Choice(AlignmentSummary, "documents or None"),
        default=None,
        python='``"documents"``: report also how much each pair of documents shares, as '
        "``document_pairs`` of the result, which is then its table.",
    )
    with_text: bool = option(
        "Add the passages' texts.", default=False, python="Add the columns query_text and doc_text."
    )
    excerpt: int | None = option(
        "Add the passages' texts, each in N characters at most and in one line.",
        Whole(2),
        default=None,
        python="Add them, each in so many characters at most and in one line.",
        metavar="N",
    )

    @property
    def has_texts(self) -> bool:
        """Whether passages have their texts."""
        return self.with_text or self.excerpt is not None


class AlignSchemeOptions(AlignOptions, PassageSchemeOptions):
    """What decides an alignment, and the index that it makes if it is given none."""


class IgnoreOptions(Options):
    """What counts nowhere."""

    ignore: Data = option(
        "Documents whose text counts nowhere, such as a prompt or a form: runs of tokens that "
        "they have are taken for not written. May be given several times.",
        default=None,
        python="Documents, in any form that ``a`` may have, whose text counts nowhere, such as "
        "a prompt or the template of a form: runs of tokens that they have, too, are taken for "
        "not written, and passages go on behind them. A run has a tenth of the tokens of the "
        "shortest passage, four at least; a shorter document is a run as a whole. An index "
        "keeps what it has, to which nothing is similar then.",
        metavar="FILE",
        is_repeatable=True,
    )


class LookUpOptions(HitsOptions, TextReadingOptions):
    """What decides the result of a search for passages, at whatever threshold."""

    report: Report = option(
        "Which of the passages found are reported.",
        default="best",
        python="``best``: passages that do not overlap, the most similar first. ``maximal``: "
        "all that reach the threshold and are part of no longer one that does. ``windows``: "
        "all sub-texts with enough common min-hashes, as ranges of starts and of ends, not "
        "compared exactly.",
    )
    with_text: bool = option(AlignOptions.known["with_text"], default=False)
    differs = but(
        recall={
            "help": "Least probability that a passage at the threshold is found.",
            "python": "Least probability with which a passage at the threshold is found; one that "
            "is more similar is found with a greater one. None is 0.99.",
        },
    )


class SearchOptions(LookUpOptions):
    """What decides the result of a search for passages."""

    threshold: Number = option(THRESHOLD, default="0.8")


class CutOptions(TrustOptions, SeedOptions, TokenOptions, TextAgainstOptions):
    """Everything that decides the result of ``cut``."""

    unit: CutUnit | None = option(
        "What goes: passages of any extent, or whole paragraphs, parted by blank lines, or lines.",
        default=None,
        usual="passages",
        python="``passages``, any stretches of tokens; ``paragraphs``, parted by blank lines; "
        "or ``lines``. None is ``passages``.",
    )
    exact: bool = option(
        "Only what is equal, token by token.",
        default=False,
        python="Only what is equal token by token goes: each passage of ``min_tokens`` tokens "
        "that is there twice is found, and no other. Without it passages are found by "
        "alignment, paragraphs and lines by MinHash, with the ``recall``.",
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Least similarity of what goes to what stays, in (0, 1]; an exact decimal.",
        usual="0.8",
        python="Least similarity of what goes to what stays for it, in (0, 1], as the exact "
        "decimal; None is 0.8. Of passages it is that of the multisets of their tokens, of "
        "paragraphs and lines the Jaccard similarity of their shingles.",
    )
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1),
        help="Tokens of the shortest thing that goes.",
        usual="50; 5 of other units",
        python="Tokens of the shortest thing that goes; None is 50, of paragraphs and lines 5.",
    )
    min_documents: int | None = option(
        "Only what so many documents have, such as menus and footers; without it also what one "
        "has twice.",
        Whole(2),
        default=None,
        python="Only what so many documents have goes from all but the first; None: also what "
        "one has twice. Equal passages are counted by their windows of ``min_tokens`` tokens, "
        "similar ones as the one that stays and those like it, or like most of it.",
        metavar="N",
    )
    keep: str = option(
        KeepOptions.known["keep"],
        default="first",
        help="Whose copy stays: that of the first document, longest, shortest, max:COLUMN, "
        "min:COLUMN or priority:COLUMN=A,B,C.",
        python="Whose copy stays: that of the document that is ``first``, ``longest``, "
        "``shortest``, ``max:COLUMN``, ``min:COLUMN`` or ``priority:COLUMN=A,B,C``; ties by "
        "input order.",
    )
    replacement: str = option(
        "What is put in the place of something that goes; else nothing.", default=""
    )
    recall: Number | None = option(
        BandOptions.known["recall"],
        default=None,
        help="Least probability that what is similar is found.",
        python="Least probability with which something similar at the threshold is found; None "
        "is 0.99.",
    )
    num_perm: int | None = option(
        PassageSchemeOptions.known["num_perm"],
        default=None,
        usual="64; of other units 128",
        python="Hash functions; None is 64, of paragraphs and lines 128.",
    )
    differs = but(ngram={"usual": "1; 5 of other units"})


class NamedOptions(Options):
    """What a table names, and how much of it."""

    named_in: Data = option(
        "Cut out what this table names instead: passages that `neardup align` or `neardup "
        "search` has written, or the removed.parquet of a cut.",
        default=None,
        python="A table that says what goes: the result of ``align``, ``search`` or ``cut``, "
        "any Arrow table, or the path of one. Only ``side``, ``trust``, ``keep`` and "
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


class SketchOptions(DocumentOptions):
    """Everything that decides sketches.

    None stands for the default of a kind, so that an option that it does not have is noticed.
    """

    kind: SketchKindName = option(
        "For Jaccard similarity (minhash; smallest: with less error), weighted Jaccard "
        "similarity, containment too (modulo), or edit distance.",
        default="minhash",
        python="``minhash``: Jaccard similarity from a fixed number of positions. "
        "``weighted``: weighted Jaccard similarity likewise. ``smallest``: the ``size`` "
        "smallest hashes of a set, for Jaccard similarity with less error. ``modulo``: the "
        "hashes that a modulus divides, for containment too. ``edit``: symbols of some "
        "windows, for edit distance.",
    )
    num_perm: int | None = option(
        BandOptions.known["num_perm"],
        default=None,
        help="minhash, weighted: hash functions, 4 bytes each.",
        python="Positions of ``minhash`` and ``weighted``, 1 to 65,536; None is 128.",
    )
    size: int | None = option(
        "smallest, modulo: hashes kept, 8 bytes each; of modulo once to twice as many.",
        Whole(1, 2**20, within="1 and 1,048,576"),
        default=None,
        usual="256; 100 for modulo",
        python="Of ``smallest``, None is 256; of ``modulo`` without a modulus the least that a "
        "sketch is expected to have, None is 100. 1 to 1,048,576.",
    )
    modulus: int | None = option(
        "modulo: one for all documents.",
        Whole(1, 2**32, within="1 and 2^32"),
        default=None,
        usual="by each one's size",
        python="Of ``modulo``: None chooses a power of two for each document, by its size.",
    )
    tf: TermFrequency | None = option(
        WeightOptions.known["tf"],
        default=None,
        help="weighted: what a shingle weighs by how often a document has it.",
        python="What shingles weigh by how often a document has them, for ``weighted``: "
        "``raw``, ``binary``, ``log``, ``squared`` or ``saturating``. None is the first.",
    )
    idf: InverseFrequency | None = option(
        WeightOptions.known["idf"],
        default=None,
        help="weighted: what it weighs by how few documents have it.",
        usual="unary",
        python="That times what they weigh by how few documents have them: ``unary``, "
        "``smooth``, ``standard`` or ``probabilistic``. None is the first. With another one "
        "documents are counted; only sketches that rest on the same counts can be compared.",
    )
    idf_from: Data = option(
        CountingOptions.known["idf_from"],
        default=None,
        help="weighted: count the documents of these files instead of INPUT's; may be given "
        "several times.",
        python="Documents that are counted for ``idf`` instead of those of ``data``.",
    )
    compression: int | None = option(
        "edit: characters for a symbol of 4 bytes.",
        Whole(1, 2**20, within="1 and 1,048,576"),
        default=None,
        usual="100",
        python="Of ``edit``: characters for a symbol, 100 by default; see "
        "``sketches.edit.signature.EditScheme``.",
    )
    neighbourhood: int | None = option(
        "edit: characters in a window.",
        Whole(1, 256),
        default=None,
        usual="12",
        python="Of ``edit``: characters of a window; None is 12.",
    )
    hash: WindowHash | None = option(
        "edit: windows are hashed, or their characters' codes added up as in the paper.",
        Choice(WindowHash, "'mixed' or 'sum'"),
        default=None,
        usual="mixed",
        python="Of ``edit``: windows are hashed (``mixed``, the default), or their characters' "
        "codes added up as in the paper (``sum``).",
    )
    letters: int | None = option(
        "edit: different symbols; 2 take a bit each.",
        Whole(2, 2**32, within="2 and 4,294,967,296"),
        default=None,
        usual="2^32",
        python="Of ``edit``: how many symbols there are; None is 2^32, 2 take a bit each.",
    )
    residue: int | None = option(
        "edit, sum: which rest a sum has that counts.",
        Whole(),
        default=None,
        usual="0",
        python="Of ``edit`` and ``sum``: which rest a sum has that counts; None is 0.",
    )
    blocks: int | None = option(
        "Sketch blocks of N characters of each document instead of the whole, one row a block, "
        "with its start and end.",
        Whole(1),
        default=None,
        python="Sketch blocks of so many characters of each document, or bytes if texts are "
        "bytes, instead of the whole; the last has half to one and a half of that. A sketch "
        "then has the ``start`` and ``end`` of its block, and estimates say where in a "
        "document they are.",
        metavar="N",
    )
    occurrences: Occurrences = "set"
    differs = but(
        tokenizer={"usual": "words; none for edit"},
        ngram={
            "usual": "5; 1 for weighted",
            "python": "Tokens in a shingle; None is 5, or 1 for ``weighted``. ``edit`` takes "
            "characters, and has no shingles.",
        },
    )


class EstimateOptions(Options):
    """What is asked of estimates."""

    measure: EstimatedMeasure | None = option(
        MEASURE,
        default=None,
        kind=Choice(EstimatedMeasure),
        help="What --threshold is for; containments are estimated by modulo.",
        usual="the similarity of the kind",
        python="What the threshold is for. None is the similarity that sketches of a kind are "
        "for: ``jaccard``, ``weighted-jaccard``, or ``edit``. Of ``modulo`` also "
        "``containment``, how much of a is in b, and ``max-containment``, how much of the "
        "smaller set is in the other one.",
    )
    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Only pairs whose estimate is at least T, in (0, 1]; an exact decimal.",
        usual="all pairs",
        python="Only pairs of which that estimate is at least this, in (0, 1], taken as the "
        "exact decimal. None: all pairs.",
    )
    min_significance: float | None = option(
        "edit: only pairs that are nearer than unrelated texts by Z standard deviations.",
        Positive(),
        default=None,
        python="Of ``edit``: only pairs that are nearer than unrelated texts by so many "
        "standard deviations, above 0; 3 leaves few pairs that share nothing.",
        metavar="Z",
    )
    super_shingles: int | None = option(
        "minhash, weighted: only pairs that agree in N super-shingles or more, each a hash of "
        "--rows min-hashes; a document has --bands of them.",
        Whole(1),
        default=None,
        python="Of ``minhash`` and ``weighted``: only pairs that agree in so many "
        "super-shingles or more. Texts that are very much alike do, others hardly ever: with r "
        "as similarity the probability is that of so many successes in ``bands`` trials of "
        "probability r^``rows``.",
        metavar="N",
    )
    bands: int | None = option(
        BandOptions.known["bands"],
        default=None,
        help="With --super-shingles: how many a document has.",
        usual="6",
        python="With ``super_shingles``: how many super-shingles a document has; None is 6.",
    )
    rows: int | None = option(
        BandOptions.known["rows"],
        default=None,
        help="With --super-shingles: min-hashes in each.",
        usual="14",
        python="With ``super_shingles``: of how many min-hashes each is a hash; None is 14.",
    )
    places: bool = option(
        "edit: also tell where the shorter text seems to lie in the longer one.",
        default=False,
        python="Also report where the shorter text seems to lie in the longer one; for "
        "``edit`` only.",
    )
    limit: int | None = option(LIMIT, default=None)


class RepresentativeOptions(Options):
    """What stands for a cluster of sketches."""

    representative: Representative = option(
        "What stands for a cluster.",
        default="first",
        python="Of a cluster: its ``first`` member, or its most ``popular`` values.",
    )


class ClusterOptions(RepresentativeOptions):
    """What decides clusters of sketches."""

    threshold: Number = option(
        THRESHOLD,
        default="0.5",
        python="Least estimated resemblance with a cluster's representative, in (0, 1], an "
        "exact decimal.",
    )


class CompareOptions(SeedOptions, TokenOptions):
    """Everything that decides a comparison of two texts."""

    threshold: Number = option(
        THRESHOLD,
        default="0.5",
        help="Least similarity of two shared passages, in (0, 1]; an exact decimal.",
        python="Least similarity of two shared passages, in (0, 1], taken as the exact decimal.",
    )
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1),
        help="Tokens of the shortest shared passage.",
        usual="20; half of a shorter text",
        python="Tokens of the shortest shared passage. None: 20, or half of those of the "
        "shorter text where that is less.",
    )
    edit_limit: int = option(
        "Work out the exact edit distance of texts of up to N characters each, or as large a "
        "product; beyond, only estimate it.",
        Whole(0),
        default=100_000,
        python="The exact edit distance is worked out if the product of the lengths, in "
        "characters, is at most the square of this, or the texts are equal; else there is the "
        "estimate only.",
        metavar="N",
    )
    tf: TermFrequency | None = option(
        SketchOptions.known["tf"],
        default=None,
        help="For weighted-jaccard, which --all shows: what a shingle weighs by how often a "
        "text has it.",
    )
    idf: InverseFrequency | None = option(
        SketchOptions.known["idf"],
        default=None,
        help="For weighted-jaccard, which --all shows: what it weighs by how few of the two "
        "texts have it.",
        python="That times what they weigh by how few of the two texts have them: ``unary``, "
        "``smooth``, ``standard`` or ``probabilistic``. None is the first; two texts are "
        "hardly a collection.",
    )
    num_perm: int | None = option(
        SketchOptions.known["num_perm"],
        default=None,
        help="With --all: hash functions of minhash and weighted sketches.",
    )
    size: int | None = option(
        SketchOptions.known["size"],
        default=None,
        help="With --all: hashes kept by smallest and modulo sketches.",
        python="Of the smallest and modulo sketches that estimate; see ``sketch``.",
    )
    compression: int | None = option(
        SketchOptions.known["compression"],
        default=None,
        help="With --all: characters for a symbol of edit sketches.",
    )
    differs = but(
        tokenizer={
            "python": "How texts become tokens: ``words``, ``whitespace``, ``characters``, "
            "``lines``, ``bytes``, the path of a ``tokenizer.json`` or a function, which has to "
            "say where tokens stand. None is ``words``. Edit distance is of characters.",
        },
        ngram={
            "python": "Tokens in a shingle; None is 5, and 1 for ``weighted-jaccard``.",
        },
    )


class DocumentSchemeOptions(BandOptions, WeightOptions, ShingleOptions):
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
        AlignOptions.known["with_text"],
        default=True,
        help="Keep the texts.",
        python="Keep the texts, compressed. Without them the hashes of their shingles are "
        "kept, which take more room than short words do, and nobody can read.",
    )
    differs = but(
        idf={
            "python": "That times what it weighs by how few documents have it: ``smooth``, "
            "``unary``, ``standard`` or ``probabilistic``, over those of the first addition. None "
            "is the first.",
        },
    )


class MostOptions(Options):
    """How many documents are found."""

    limit: int | None = option(
        LIMIT,
        default=None,
        help="Only the N most similar documents.",
        python="Only so many, the most similar.",
    )


class DocumentSearchOptions(MostOptions, TextReadingOptions):
    """What decides the result of a search for documents."""

    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Least similarity, in (0, 1], not below that of the index; an exact decimal.",
        usual="that of the index",
        python="Least similarity, not below that of the index, which None is; an exact decimal.",
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


class CommitOptions(OpenOptions):
    """How an index is opened into which documents are inserted one by one."""

    commit_every: int | None = option(
        "Commit after so many insertions.",
        Whole(1),
        default=None,
        python="Commit after so many insertions; None leaves it to ``commit``.",
    )


class ReportOptions(ByOptions, TrustOptions, TextAgainstOptions):
    """Which column counts are made by, and how the result and the documents it names are read."""


class DropOptions(ByOptions, TrustOptions, ReadingOptions):
    """What decides which documents go."""

    column: str | None = option("Column of FILE with the ids.", default=None, usual="doc_id")
    missing: Missing = option(
        "An id in FILE that no document has ends the run, or is counted only.", default="raise"
    )


class ShowOptions(TrustOptions, AgainstOptions):
    """How many examples, whether the least or the most similar, and how documents are read."""

    examples: int = option(
        "How many.", Whole(1), default=10, metavar="N", flags=("-n", "--examples")
    )
    least: bool = option("The least similar ones.", default=False)
    most: bool = option("The most similar ones.", default=False)
    differs = but(on_error={"help": "A bad row ends the run, or is passed over."})

    @property
    def which(self) -> Literal["spread", "least", "most"]:
        """Which examples are shown."""
        if self.least and self.most:
            message = "least and most ask for different examples; give one of them"
            raise InvalidParameterError(message, "least", "most")
        return "least" if self.least else "most" if self.most else "spread"

    def check_unread(self, where: str, remedy: str) -> None:
        """Raise if an option says how documents are read, where none are."""
        for name in ReadingOptions.known:
            if getattr(self, name) != self.known[name].default:
                raise no_effect(name, where, remedy)


class AgainstDataOptions(Options):
    """Other documents that the documents are compared with."""

    against: Data = option(
        "Also remove what is similar to a document of these files, or of this index; files may "
        "be given several times.",
        Documents(),
        default=None,
        metavar="OTHER",
        is_repeatable=True,
    )
