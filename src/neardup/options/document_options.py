"""Options for comparing documents, sketches or two texts."""

from collections.abc import Mapping
from typing import Any

from neardup.options.choices import (
    Algorithm,
    ColumnNames,
    DocumentMeasure,
    DocumentPreset,
    EstimatedMeasure,
    Method,
    Missing,
    Number,
    Occurrences,
    PairMeasure,
    PairMethod,
    SketchKindName,
    TokenizerChoice,
)
from neardup.options.groups import (
    LIMIT,
    MEASURE,
    MIN_TOKENS,
    THRESHOLD,
    AgainstOptions,
    BandOptions,
    DocumentOptions,
    FingerprintOptions,
    KeepOptions,
    ReadingOptions,
    SeedOptions,
    ShingleOptions,
    TokenOptions,
    WeightOptions,
    WhereOptions,
    WorkspaceOptions,
)
from neardup.options.kinds import Choice, Columns, ListedColumns, ShareOrCount, Whole
from neardup.options.option import Options, but, option
from neardup.options.presets import Preset, PresetOptions, preset_option


class DocumentPresetOptions(PresetOptions):
    """Preset of a job that compares whole documents."""

    preset: DocumentPreset | None = preset_option(DocumentPreset)

    @classmethod
    def row(cls, preset: Preset, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return preset options, with a Jaccard threshold if it applies."""
        row = dict(preset.documents or {})
        is_jaccard = given.get("measure") in (None, "jaccard")
        if not is_jaccard or given.get("max_distance") is not None:
            row.pop("threshold", None)
        # Exact joins, the default for pairs, use no hash functions.
        method = cls.known.get("method")
        if method and (given.get("method") or method.default) != "minhash":
            row.pop("num_perm", None)
        return row

    def check_no_preset(self) -> None:
        """Raise if a preset is given with an index."""
        where = "with an index, which was made for its documents"
        self.check_left_out(["preset"], where, "name files with against", "against")


class DedupOptions(
    DocumentPresetOptions,
    KeepOptions,
    BandOptions,
    WeightOptions,
    DocumentOptions,
    AgainstOptions,
):
    """Options of ``deduplicate``, with None for the default."""

    heading = "Matching"

    threshold: Number | None = option(THRESHOLD, default=None, usual="0.8; that of an index")
    measure: DocumentMeasure | None = option(
        MEASURE, default=None, usual="jaccard; that of an index"
    )
    method: Method = option("Find similar documents by MinHash, or exactly.", default="minhash")
    occurrences: Occurrences | None = None
    add: bool = option(
        "Add the kept documents to the index of --against.",
        default=False,
        heading="Input",
        more="The index is made by the options of this run if it does not exist. Batches that are "
        "added one after the other, with keep order first, keep what one run keeps.",
    )
    audit: int | None = option(
        "Measure the recall on N documents, compared exactly with all.",
        Whole(1),
        default=None,
        metavar="N",
    )
    differs = but(occurrences={"usual": "set"})


class PairOptions(
    DocumentPresetOptions, BandOptions, WeightOptions, DocumentOptions, AgainstOptions
):
    """Options of the ``find_pairs`` function."""

    heading = "Matching"

    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        kind=ShareOrCount(),
        help="Least similarity; for overlap a number of shingles.",
        usual="0.8",
    )
    measure: PairMeasure | None = option(
        MEASURE,
        default=None,
        kind=Choice(PairMeasure),
        usual="jaccard; edit with --max-distance",
    )
    max_distance: int | None = option(
        "Most edits, instead of a threshold.",
        Whole(0),
        default=None,
        metavar="D",
    )
    top: int | None = option("Only the K most similar pairs.", Whole(1), default=None, metavar="K")
    per_document: bool = option("Only the --top partners of each document of INPUT.", default=False)
    one_to_one: bool = option(
        "At most one pair per document, the most similar first.", default=False
    )
    blocking: ColumnNames | None = option(
        "Compare only documents with equal values in this column.",
        Columns(),
        default=None,
        more="Repeat it for several columns, all of which must be equal.",
        metavar="COLUMN",
    )
    columns: ColumnNames | None = option(
        "Add these columns of both documents, separated by commas.",
        ListedColumns(),
        default=None,
        more="The column title becomes title_a and title_b.",
        metavar="COLUMNS",
    )
    method: PairMethod | None = option(
        "Find all pairs, or by MinHash as many as --recall.",
        default=None,
        usual="exact; minhash with an index",
        more="allpairs, ppjoin and ppjoin+ are exact, too, with these filters.",
    )
    limit: int | None = option(LIMIT, default=None)
    occurrences: Occurrences = "set"
    differs = but(
        tokenizer={"usual": "words; characters for edit"},
        ngram={"usual": "5; 1 for weighted-jaccard, chosen for edit"},
    )

    @property
    def blocking_columns(self) -> tuple[str, ...]:
        """Return the columns with equal values in each pair."""
        return _names(self.blocking)

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """Return the columns that pairs carry of both documents."""
        return _names(self.columns)

    @property
    def algorithm(self) -> Algorithm | None:
        """Return the exact join's filters chosen by name, or None."""
        if self.method is None or self.method == "exact" or self.method == "minhash":
            return None
        return self.method

    @property
    def is_of_edits(self) -> bool:
        """Return whether texts are compared by their edit distances."""
        default = "edit" if self.max_distance is not None else "jaccard"
        return (self.measure or default) == "edit"

    @property
    def may_look_up(self) -> bool:
        """Return whether looking up an index suffices for these options."""
        if self.method is not None:
            return self.method == "minhash"
        # Lookups cannot do these.
        options = self.top, self.max_distance, self.blocking, self.columns
        needs_join = self.one_to_one or self.measure in ("edit", "overlap")
        return not needs_join and all(option is None for option in options)


def _names(named: ColumnNames | None) -> tuple[str, ...]:
    return (named,) if isinstance(named, str) else tuple(named or ())


class DocumentSchemeOptions(DocumentPresetOptions, BandOptions, WeightOptions, ShingleOptions):
    """Options of an index of documents."""

    heading = "Matching"

    measure: DocumentMeasure = option(MEASURE, default="jaccard")
    threshold: Number = option(THRESHOLD, default="0.8")
    tokenizer: TokenizerChoice = "words"
    occurrences: Occurrences = "set"
    columns: ColumnNames | None = option(
        "Documents: keep these columns, separated by commas.",
        ListedColumns(),
        default=None,
        metavar="COLUMNS",
    )


class DocumentSearchOptions(WhereOptions, ReadingOptions):
    """Options of a search for documents."""

    heading = "Matching"

    threshold: Number | None = option(THRESHOLD, default=None, usual="that of the index")
    limit: int | None = option(
        "Only the N most similar documents per query.", Whole(1), default=None, metavar="N"
    )


class ReviewOptions(AgainstOptions):
    """Options of a page for judging pairs."""

    heading = "Output"

    limit: int = option(
        "Most pairs of the page, the least similar first.",
        Whole(1),
        default=20_000,
        metavar="N",
    )
    columns: ColumnNames | None = option(
        PairOptions.known["columns"],
        default=None,
        help="Columns of INPUT to show, separated by commas.",
        more="",
        usual="all, the text first",
    )

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """Return the columns to show, empty for all."""
        return _names(self.columns)


class DropOptions(WhereOptions, ReadingOptions):
    """Options of a removal of named documents."""

    column: str | None = option("Column of FILE with the ids.", default=None, usual="doc_id")
    missing: Missing = option("Fail at an id that no document has, or count it.", default="raise")


class SimilarityOptions(WeightOptions, TokenOptions):
    """Options of the similarity of two texts."""

    measure: PairMeasure | None = option(
        MEASURE, default=None, kind=Choice(PairMeasure), usual="jaccard"
    )
    occurrences: Occurrences = "set"
    differs = but(
        tokenizer={"usual": "words; characters for edit"},
        ngram={"usual": "1"},
        idf={"usual": "unary"},
    )


class ExtractOptions(SimilarityOptions):
    """Options of a choice of the most similar texts."""

    limit: int = option("The most texts.", Whole(1), default=5)
    threshold: Number | None = option(
        THRESHOLD, default=None, kind=ShareOrCount(), usual="any above 0"
    )


class SketchOptions(DocumentOptions, WeightOptions, FingerprintOptions, SeedOptions):
    """Options of all kinds of sketches.

    None is the default of a kind, so that an option that the kind does not have is noticed.
    """

    heading = "Sketches"

    kind: SketchKindName = option(
        "Kind of sketch, by the similarity it estimates.",
        default="minhash",
        more="minhash and smallest estimate Jaccard similarity, smallest with less error; weighted "
        "estimates weighted Jaccard similarity, modulo containment, too, edit the edit distance.",
    )
    num_perm: int | None = option(
        BandOptions.known["num_perm"],
        default=None,
        help="minhash, weighted: hash functions, 4 bytes each.",
    )
    size: int | None = option(
        "smallest, modulo: hashes kept, 8 bytes each.",
        Whole(1, 2**20),
        default=None,
        more="A sketch of kind modulo has once to twice as many.",
        usual="256; 100 for modulo",
    )
    modulus: int | None = option(
        "modulo: one modulus for all documents.",
        Whole(1, 2**32),
        default=None,
        usual="by the size of each document",
    )
    compression: int | None = option(
        "edit: characters per symbol of 4 bytes.",
        Whole(1, 2**20),
        default=None,
        usual="100",
    )
    occurrences: Occurrences = "set"
    differs = but(
        idf={"usual": "unary"},
        tokenizer={"usual": "words; none for edit"},
        ngram={"usual": "5; 1 for weighted"},
    )


class EstimateOptions(Options):
    """Options of the ``estimate`` function."""

    heading = "Matching"

    threshold: Number | None = option(THRESHOLD, default=None, usual="all pairs")
    measure: EstimatedMeasure | None = option(
        MEASURE,
        default=None,
        kind=Choice(EstimatedMeasure),
        usual="the similarity of the kind",
    )
    super_shingles: int | None = option(
        "minhash, weighted: least number of common super-shingles.",
        Whole(1),
        default=None,
        metavar="N",
    )
    memory: int | str | None = option(WorkspaceOptions.known["memory"], default=None)
    limit: int | None = option(LIMIT, default=None)


class ClusterOptions(Options):
    """Options of clusters of sketches."""

    threshold: Number = option(THRESHOLD, default="0.5")


class CompareOptions(TokenOptions):
    """Options of a comparison of two texts."""

    heading = "Matching"

    threshold: Number = option(THRESHOLD, default="0.5")
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1),
        help="Tokens of the shortest shared passage.",
        usual="20; half of a shorter text",
    )
