"""Options of jobs that make and compare sketches, and of the comparison of two texts."""

from neardup.options.choices import (
    EstimatedMeasure,
    InverseFrequency,
    Number,
    Occurrences,
    Representative,
    SketchKindName,
    TermFrequency,
    WindowHash,
)
from neardup.options.groups import (
    LIMIT,
    MEASURE,
    MIN_TOKENS,
    THRESHOLD,
    BandOptions,
    CountingOptions,
    DocumentOptions,
    FingerprintOptions,
    SeedOptions,
    TokenOptions,
    WeightOptions,
    WorkspaceOptions,
)
from neardup.options.kinds import Choice, Whole
from neardup.options.option import Options, but, option


class SketchOptions(DocumentOptions, CountingOptions, FingerprintOptions, SeedOptions):
    """Options of sketches.

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
        Whole(1, 2**20, within="1 and 1,048,576"),
        default=None,
        more="A sketch of kind modulo has once to twice as many.",
        usual="256; 100 for modulo",
    )
    modulus: int | None = option(
        "modulo: one modulus for all documents.",
        Whole(1, 2**32, within="1 and 2^32"),
        default=None,
        usual="by the size of each document",
    )
    compression: int | None = option(
        "edit: characters per symbol of 4 bytes.",
        Whole(1, 2**20, within="1 and 1,048,576"),
        default=None,
        usual="100",
    )
    neighbourhood: int | None = option(
        "edit: characters per window.", Whole(1, 256), default=None, usual="12"
    )
    hash: WindowHash | None = option(
        "edit: hash windows, or sum their characters' codes.",
        Choice(WindowHash, "'mixed' or 'sum'"),
        default=None,
        usual="mixed",
    )
    letters: int | None = option(
        "edit: different symbols; 2 take a bit each.",
        Whole(2, 2**32, within="2 and 4,294,967,296"),
        default=None,
        usual="2^32",
    )
    residue: int | None = option(
        "edit, sum: remainder of the sums that count.", Whole(), default=None, usual="0"
    )
    occurrences: Occurrences = "set"
    differs = but(
        tf={"help": "weighted: weight by the frequency in a document."},
        idf={"help": "weighted: weight by the rarity among documents.", "usual": "unary"},
        idf_from={"help": "weighted: count documents of these files instead."},
        tokenizer={"usual": "words; none for edit"},
        ngram={"usual": "5; 1 for weighted"},
    )


class EstimateOptions(Options):
    """Options of estimates."""

    heading = "Matching"

    threshold: Number | None = option(
        THRESHOLD,
        default=None,
        help="Only pairs whose estimate is at least T.",
        usual="all pairs",
    )
    measure: EstimatedMeasure | None = option(
        MEASURE,
        default=None,
        kind=Choice(EstimatedMeasure),
        help="Measure of --threshold; modulo estimates containments, too.",
        usual="the similarity of the kind",
    )
    super_shingles: int | None = option(
        "minhash, weighted: least number of common super-shingles.",
        Whole(1),
        default=None,
        metavar="N",
    )
    bands: tuple[int, int] | str | None = option(
        BandOptions.known["bands"],
        default=None,
        help="Super-shingles, and min-hashes in each.",
        usual="6x14",
    )
    memory: int | str | None = option(
        WorkspaceOptions.known["memory"],
        default=None,
        more="Parts of files that do not fit are compared two at a time. Python and its libraries "
        "come on top.",
    )
    limit: int | None = option(LIMIT, default=None)


class RepresentativeOptions(Options):
    """Representative of a cluster of sketches."""

    representative: Representative = option("Representative of a cluster.", default="first")


class ClusterOptions(RepresentativeOptions):
    """Options of clusters of sketches."""

    threshold: Number = option(THRESHOLD, default="0.5")


class CompareOptions(SeedOptions, TokenOptions):
    """Options of a comparison of two texts."""

    heading = "Matching"

    threshold: Number = option(
        THRESHOLD, default="0.5", help="Least similarity of two shared passages, in (0, 1]."
    )
    min_tokens: int | None = option(
        MIN_TOKENS,
        default=None,
        kind=Whole(1),
        help="Tokens of the shortest shared passage.",
        usual="20; half of a shorter text",
    )
    edit_limit: int = option(
        "Exact edit distance up to N characters per text.",
        Whole(0),
        default=100_000,
        more="It is computed where the product of both lengths is at most the square of N; the "
        "distance of longer texts is estimated.",
        metavar="N",
    )
    num_perm: int | None = option(
        SketchOptions.known["num_perm"],
        default=None,
        help="With --all: hash functions of minhash and weighted sketches.",
    )
    size: int | None = option(
        SketchOptions.known["size"],
        default=None,
        help="With --all: hashes of smallest and modulo sketches.",
    )
    compression: int | None = option(
        SketchOptions.known["compression"],
        default=None,
        help="With --all: characters per symbol of edit sketches.",
    )
    tf: TermFrequency | None = option(
        WeightOptions.known["tf"],
        default=None,
        help="With --all: weight by the frequency in a text.",
    )
    idf: InverseFrequency | None = option(
        WeightOptions.known["idf"],
        default=None,
        help="With --all: weight by the rarity among texts.",
        usual="unary",
    )
