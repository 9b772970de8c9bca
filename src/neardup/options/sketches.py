"""The options of jobs that make and compare sketches, and of the comparison of two texts."""

from neardup.options.choices import (
    Data,
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
    BUDGET,
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


class SketchOptions(DocumentOptions, FingerprintOptions, SeedOptions):
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
    idf_from: Data | None = option(
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
    memory: int | str | None = option(
        WorkspaceOptions.known["memory"],
        default=None,
        help=f"{BUDGET}; of files that do not fit parts are compared, two at a time. Python and "
        "its libraries come on top.",
        python=f"{BUDGET}, or in bytes; None is 60 % of what is free. Of files that do not fit "
        "parts are compared, two at a time. Python and its libraries come on top.",
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
            "``lines``, ``bytes``, ``code``, the path of a ``tokenizer.json`` or a function, which "
            "has to say where tokens stand. None is ``words``. Edit distance is of characters."
        },
        ngram={"python": "Tokens in a shingle; None is 5, and 1 for ``weighted-jaccard``."},
    )
