"""Which options each command and each public function has, and where they differ there."""

from __future__ import annotations

from neardup.options import table
from neardup.options.choices import (
    EstimatedMeasure,
    IndexKind,
    PairMeasure,
    PairMethod,
    Refresh,
    TextFormat,
)
from neardup.options.kinds import Choice, Documents, ShareOrCount, Whole
from neardup.options.option import Option

_COLUMNS = (table.TEXT_COLUMN, table.ID_COLUMN)
_FILES = (
    table.ENCODING,
    table.DELIMITER,
    table.LINES,
    table.MAIN_TEXT,
    table.ALTERNATIVE_TEXTS,
    table.ON_ERROR,
)
_READING = (*_COLUMNS, table.INPUT_FORMAT, *_FILES)
# Of jobs that look into texts, or keep them.
_TEXT_FORMAT = table.INPUT_FORMAT.but(
    kind=Choice(
        TextFormat,
        bytes="bytes are compared by dedup, pairs and sketch; passages, cuts and indexes need text",
    ),
    help=table.BY_ENDING,
)
READING_TEXT = (*_COLUMNS, _TEXT_FORMAT, *_FILES)
_AGAINST = (table.AGAINST_TEXT_COLUMN, table.AGAINST_ID_COLUMN)
_NORMALISATION = (table.CASEFOLD, table.UNICODE_FORM, table.STRIP_ACCENTS, table.FOLD_DIGITS)
_FINGERPRINTS = (table.FINGERPRINT, table.FINGERPRINT_BITS)
_SHINGLES = (
    table.TOKENIZER,
    table.NGRAM,
    table.OCCURRENCES,
    *_FINGERPRINTS,
    *_NORMALISATION,
)
_BANDS = (table.RECALL, table.NUM_PERM, table.BANDS, table.ROWS, table.SEED)
_RUN = (table.WORKERS, table.PROGRESS)
_WITHIN_MEMORY = (table.MEMORY, table.WORK)
_REPORTING = (table.QUIET, table.AS_JSON)
_RUN_COMMAND = (table.WORKERS, *_REPORTING)

_FOLDER = table.OUTPUT.but(help="Folder or URL to create.")
_OVERWRITE_FOLDER = table.OVERWRITE.but(help="Replace the output folder if it exists.")

_WEIGHTS = (
    table.TF,
    table.IDF,
    table.IDF_FROM.but(
        help="For weighted-jaccard: count the documents of these files instead of those that are "
        "compared; may be given several times."
    ),
)
_MATCHING = (table.MEASURE, table.THRESHOLD, *_BANDS, table.TF, table.IDF, *_SHINGLES)
_DEDUP = (
    table.MEASURE.but(default=None, usual="jaccard; that of an index"),
    table.THRESHOLD.but(default=None, usual="0.8; that of an index"),
    *_BANDS,
    *_WEIGHTS,
    table.TOKENIZER,
    table.NGRAM,
    table.OCCURRENCES.but(default=None, usual="set"),
    *_FINGERPRINTS,
    *_NORMALISATION,
    table.KEEP,
    table.CLUSTERS,
    table.METHOD,
    table.AUDIT,
    table.BY,
    *_READING,
)

# Of pairs that were found before.
_CHOOSE = (
    table.MEASURE.but(default=None, usual="that of the pairs"),
    table.THRESHOLD.but(default=None, usual="that of the pairs"),
    table.KEEP,
    table.CLUSTERS,
    table.BY,
    table.TRUST,
    *_READING,
)

_PAIRS = (
    table.MEASURE.but(
        kind=Choice(PairMeasure), default=None, usual="jaccard; edit with --max-distance"
    ),
    table.THRESHOLD.but(
        kind=ShareOrCount(),
        default=None,
        help="Least similarity, in (0, 1], an exact decimal; for overlap a number of shingles.",
        usual="0.8; with --top any",
    ),
    table.MAX_DISTANCE,
    table.TOP,
    table.PER_DOCUMENT,
    table.ONE_TO_ONE,
    table.BLOCKING,
    table.ALSO,
    table.ALSO_MISSING,
    table.COLUMNS_OF_BOTH,
    table.METHOD.but(
        kind=Choice(PairMethod),
        default=None,
        help="Miss no pair, or as many as --recall allows and be faster on large collections.",
        usual="exact; minhash with an index",
    ),
    table.ALGORITHM,
    *_WEIGHTS,
    *_BANDS,
    table.LIMIT,
    table.TOKENIZER.but(usual="words; characters for edit"),
    table.NGRAM.but(usual="5; 1 for weighted-jaccard, chosen for edit"),
    *_SHINGLES[2:],
    *_READING,
)

_PAIRS_WITHIN_MEMORY = (
    table.MEMORY.but(
        help="Most memory to use with --method minhash, such as 4GB; what does not fit goes to "
        "files in --work."
    ),
    table.WORK.but(
        help="With --method minhash: folder for temporary files, by which a run that was stopped "
        "goes on."
    ),
)

_COMPARE = (
    table.THRESHOLD.but(
        default="0.5", help="Least similarity of two shared passages, in (0, 1]; an exact decimal."
    ),
    table.MIN_TOKENS.but(
        kind=Whole(1),
        help="Tokens of the shortest shared passage.",
        usual="20; half of a shorter text",
    ),
    table.EDIT_LIMIT,
    table.TOKENIZER,
    table.NGRAM,
    *_NORMALISATION,
    table.TF.but(
        help="For weighted-jaccard, which --all shows: what a shingle weighs by how often a text "
        "has it."
    ),
    table.IDF.but(
        help="For weighted-jaccard, which --all shows: what it weighs by how few of the two texts "
        "have it.",
        usual="unary",
    ),
    table.NUM_PERM.but(help="With --all: hash functions of minhash and weighted sketches."),
    table.SIZE.but(help="With --all: hashes kept by smallest and modulo sketches."),
    table.COMPRESSION.but(help="With --all: characters for a symbol of edit sketches."),
    table.SEED,
)

_SCHEME = (
    table.NUM_PERM.but(
        kind=Whole(8, 1024, within="8 and 1,024"), help="Hash functions.", usual="64"
    ),
    table.TF.but(
        help="What a token weighs by how often a passage has it; binary: once is enough.",
        usual="binary",
    ),
    table.IDF.but(
        help="What it weighs by how few documents have it; unary: all the same.", usual="unary"
    ),
    table.SEED,
    table.TOKENIZER,
    table.NGRAM.but(
        help="Tokens in a shingle; passages are compared by their shingles.", usual="1"
    ),
    *_NORMALISATION,
)
SCHEME_OF_PASSAGES = (table.MIN_TOKENS, *_SCHEME)
_SAME_TOKENIZER = table.TOKENIZER.but(
    help="The tokenizer.json file that the index was made with, if it was one.", usual=""
)
_SEARCH = (
    table.THRESHOLD,
    table.RECALL.but(help="Least probability that a passage at the threshold is found."),
    table.HITS,
)
_ALIGN = (
    table.PRESET,
    table.THRESHOLD.but(
        default=None,
        help="Least similarity of two passages, in (0, 1]; an exact decimal.",
        usual="0.5",
    ),
    table.MIN_TOKENS.but(
        kind=Whole(1),
        help="Tokens of the shortest passage, in either text.",
        usual="50; that of the index",
    ),
    table.RECALL.but(help="Least probability that a window at the threshold is found."),
    table.HITS,
    table.GAP,
    table.MAX_DOCUMENTS,
    table.IGNORE,
)

_CUT = (
    table.UNIT,
    table.EXACT,
    table.THRESHOLD.but(
        default=None,
        help="Least similarity of what goes to what stays, in (0, 1]; an exact decimal.",
        usual="0.8",
    ),
    table.MIN_TOKENS.but(
        kind=Whole(1), help="Tokens of the shortest thing that goes.", usual="50; 5 of other units"
    ),
    table.MIN_DOCUMENTS,
    table.KEEP.but(
        help="Whose copy stays: that of the first document, longest, shortest, max:COLUMN, "
        "min:COLUMN or priority:COLUMN=A,B,C."
    ),
    table.REPLACEMENT,
    table.RECALL.but(help="Least probability that what is similar is found.", usual="0.99"),
    table.NUM_PERM.but(
        kind=Whole(8, 1024, within="8 and 1,024"),
        help="Hash functions.",
        usual="64; of other units 128",
    ),
    table.SEED,
    table.TOKENIZER,
    table.NGRAM.but(usual="1; 5 of other units"),
    *_NORMALISATION,
    *READING_TEXT,
)
_CUT_WITHIN_MEMORY = (
    table.MEMORY,
    table.WORK.but(help="Folder for temporary files."),
)
_SPANS = table.NAMED_IN.but(
    help="Cut out what this table names instead: passages that `neardup align` or `neardup search` "
    "has written, or the removed.parquet of a cut.",
    is_required=False,
)

_LEAST = table.THRESHOLD.but(
    help="Least similarity that can be asked for, in (0, 1]; an exact decimal."
)
SCHEME_OF_DOCUMENTS = (
    table.MEASURE,
    _LEAST,
    *_BANDS,
    table.TF,
    table.IDF,
    *_SHINGLES,
    table.COLUMNS,
    table.WITH_TEXT.but(help="Keep the texts.", default=True),
)
# Options of the command line, where the kind of the index decides which have an effect.
_ANY_SCHEME = (
    table.MEASURE.but(default=None, help="Documents: similarity of two texts.", usual="jaccard"),
    table.THRESHOLD.but(
        default=None,
        help="Documents: least similarity that can be asked for, in (0, 1]; an exact decimal.",
        usual="0.8",
    ),
    table.MIN_TOKENS.but(help="Passages: tokens of the shortest one that is found for certain."),
    table.RECALL.but(help="Documents: least probability that one at the threshold is found."),
    table.NUM_PERM.but(
        help="Hash functions; for documents at most.", usual="64; 128 for documents"
    ),
    table.BANDS.but(help="Documents: bands, instead of choosing them for the recall."),
    table.ROWS.but(help="Documents: rows in a band; goes with --bands."),
    table.SEED,
    table.TF.but(
        help="What a token weighs by how often it is there; of documents for weighted-jaccard.",
        usual="binary; raw for documents",
    ),
    table.IDF.but(
        help="What it weighs by how few documents have it; of documents for weighted-jaccard.",
        usual="unary; smooth for documents",
    ),
    table.TOKENIZER,
    table.NGRAM.but(usual="1; 5 for documents, 1 if weighted"),
    table.OCCURRENCES.but(
        default=None,
        help="Documents: shingles as a set, or each copy as an element of its own.",
        usual="set",
    ),
    table.FINGERPRINT.but(
        help="Documents: how shingles are hashed; the collisions of rabin are bounded, whatever "
        "the texts are."
    ),
    table.FINGERPRINT_BITS.but(
        help="Documents: bits that tell shingles apart, 32, 40 or 64. Of 10,000 shingles two are "
        "taken for the same with probability 0.012, 0.000045 or 3e-12."
    ),
    *_NORMALISATION,
    table.COLUMNS.but(help="Documents: keep this column with each; may be given several times."),
    table.NO_TEXT.but(help="Documents: keep hashes of their shingles instead of texts."),
)
_ANY_SEARCH = (
    table.THRESHOLD.but(
        default=None,
        help="Least similarity, in (0, 1]; an exact decimal.",
        usual="0.8; of documents that of the index",
    ),
    table.RECALL.but(
        help="Passages: least probability that one at the threshold is found.",
    ),
    table.HITS.but(
        help="Passages: min-hashes in common at least, instead of choosing their number for the "
        "recall."
    ),
)
_ASKED = table.THRESHOLD.but(
    default=None,
    help="Least similarity, in (0, 1], not below that of the index; an exact decimal.",
    usual="that of the index",
)
MATCH_LIMIT = table.LIMIT.but(help="Only the N most similar documents.")
_DOCUMENT_SEARCH = (_ASKED, MATCH_LIMIT)

_SKETCH = (
    table.KIND,
    table.NUM_PERM.but(help="minhash, weighted: hash functions, 4 bytes each."),
    table.SIZE,
    table.MODULUS,
    table.TF.but(help="weighted: what a shingle weighs by how often a document has it."),
    table.IDF.but(help="weighted: what it weighs by how few documents have it.", usual="unary"),
    table.IDF_FROM,
    table.COMPRESSION,
    table.NEIGHBOURHOOD,
    table.HASH,
    table.LETTERS,
    table.RESIDUE,
    table.BLOCKS,
    table.SEED,
    table.TOKENIZER.but(usual="words; none for edit"),
    table.NGRAM.but(usual="5; 1 for weighted"),
    *_SHINGLES[2:],
    *_READING,
)
_ESTIMATE = (
    table.MEASURE.but(
        kind=Choice(EstimatedMeasure),
        default=None,
        help="What --threshold is for; containments are estimated by modulo.",
        usual="the similarity of the kind",
    ),
    table.THRESHOLD.but(
        default=None,
        help="Only pairs whose estimate is at least T, in (0, 1]; an exact decimal.",
        usual="all pairs",
    ),
    table.MIN_SIGNIFICANCE,
    table.SUPER_SHINGLES,
    table.BANDS.but(help="With --super-shingles: how many a document has.", usual="6"),
    table.ROWS.but(help="With --super-shingles: min-hashes in each.", usual="14"),
)
_LISTED = table.PAIRS.but(
    help="Only the pairs that this table lists as id_a and id_b; of A and of B, if there are both."
)

SERVE = (
    table.HOST,
    table.PORT,
    table.ALLOWED_HOST,
    table.TOKEN_FILE,
    table.WRITABLE,
    table.REFRESH,
    table.MAX_BODY,
    table.MAX_TEXTS,
    table.MAX_SECONDS,
    table.MAX_WAITING,
    table.STOP_SECONDS,
    table.CHECK,
    _SAME_TOKENIZER.but(
        help="The tokenizer.json file that the indexes were made with, if it was one."
    ),
    table.WORKERS,
    table.QUIET,
    table.AS_JSON.but(help="Print what is served, and where, as one JSON object."),
)

# Options of the command line, in the order in which help lists them.
COMMANDS: dict[str, tuple[Option, ...]] = {
    "dedup": (
        _FOLDER,
        table.PAGE,
        table.AGAINST,
        *_AGAINST,
        table.PAIRS,
        table.TRUST,
        table.ADD,
        *_DEDUP,
        table.OUTPUT_FORMAT,
        table.WITH_TEXT.but(
            help="Add the texts to removed.parquet, of each removed document and of the one that "
            "stays for it."
        ),
        _OVERWRITE_FOLDER,
        table.ENGINE,
        *_WITHIN_MEMORY,
        table.FRESH,
        *_RUN_COMMAND,
    ),
    "pairs": (
        table.OUTPUT,
        table.PAGE,
        table.AGAINST.but(
            help="Pairs of one document of INPUT and one of these files, or of this index; files "
            "may be given several times."
        ),
        *_AGAINST,
        *_PAIRS,
        table.STATS,
        table.TABLE_FORMAT,
        table.OVERWRITE,
        *_PAIRS_WITHIN_MEMORY,
        table.FRESH.but(
            help="With --method minhash: start over instead of going on with a run that was "
            "stopped."
        ),
        *_RUN_COMMAND,
    ),
    "compare": (
        table.HTML,
        table.SHOW_ALL,
        *_COMPARE,
        table.ENCODING.but(help="Encoding of both texts, by its name in Python.", usual="utf-8"),
        table.OVERWRITE.but(help="Replace the page if it exists."),
        *_RUN_COMMAND,
    ),
    "explain": (
        table.OTHER,
        table.CLOSEST,
        table.AGAINST.but(
            help="The files or the index that the documents were compared against, whose texts "
            "the folder lacks; files may be given several times."
        ),
        *_AGAINST,
        table.TOKENIZER.but(
            help="The tokenizer.json that was used, if one was.", usual="", metavar="FILE"
        ),
        table.IDF_FROM.but(
            help="The files by which shingles were weighed, if they were by others than those "
            "compared; may be given several times."
        ),
        table.TRUST,
        table.HTML.but(help="Also write a page with all of it, texts side by side."),
        table.OVERWRITE.but(help="Replace the page if it exists."),
        *_RUN_COMMAND,
    ),
    "index build": (
        table.KIND.but(
            kind=Choice(IndexKind),
            default="passages",
            help="What is found: passages that are similar to passages, or whole documents. DIR "
            "remembers it.",
        ),
        *_ANY_SCHEME,
        *READING_TEXT,
        table.OVERWRITE.but(help="Replace the folder if it exists."),
        *_RUN_COMMAND,
    ),
    "index add": (_SAME_TOKENIZER, *READING_TEXT, *_RUN_COMMAND),
    "index remove": (table.IDS, *_REPORTING),
    "index compact": (_SAME_TOKENIZER, *_RUN_COMMAND),
    "index info": (_SAME_TOKENIZER, table.AS_JSON),
    "search": (
        table.OUTPUT,
        table.PAGE,
        *_ANY_SEARCH,
        table.MAXIMAL,
        table.ALL_WINDOWS,
        table.LIMIT.but(help="Documents: only the N that are most similar to each query."),
        table.WITH_TEXT,
        table.NO_TEXT,
        _SAME_TOKENIZER,
        *READING_TEXT,
        table.TABLE_FORMAT,
        table.OVERWRITE,
        *_RUN_COMMAND,
    ),
    "align": (
        table.AGAINST.but(
            help="The other collection, or the folder of an index; files may be given several "
            "times. Without it, the documents of INPUT are compared with each other.",
        ),
        *_AGAINST,
        table.WITHIN,
        table.OUTPUT,
        table.PAGE,
        *_ALIGN,
        table.SUMMARY,
        table.WITH_TEXT,
        table.NO_TEXT,
        table.EXCERPT,
        *_SCHEME,
        *READING_TEXT,
        table.TABLE_FORMAT,
        table.OVERWRITE,
        *_RUN_COMMAND,
    ),
    "cut": (
        _FOLDER,
        table.PAGE,
        table.AGAINST.but(
            help="Cut out what documents of these files, or of this index, have, and nothing else; "
            "files may be given several times."
        ),
        *_AGAINST,
        _SPANS,
        table.SIDE,
        table.TRUST,
        *_CUT,
        table.OUTPUT_FORMAT,
        _OVERWRITE_FOLDER,
        *_CUT_WITHIN_MEMORY,
        *_RUN_COMMAND,
    ),
    "drop": (
        table.NAMED_IN,
        _FOLDER,
        table.COLUMN,
        table.MISSING,
        table.TRUST,
        table.BY,
        *_READING,
        table.OUTPUT_FORMAT,
        _OVERWRITE_FOLDER,
        table.MEMORY,
        table.WORK.but(help="Folder for temporary files."),
        *_RUN_COMMAND,
    ),
    "show": (
        table.EXAMPLES,
        table.LEAST,
        table.MOST,
        table.TRUST,
        table.AGAINST.but(
            help="The other documents that RESULT names, if it was made of two collections; files "
            "may be given several times, or an index."
        ),
        *_AGAINST,
        *_READING[:-1],
        table.ON_ERROR.but(help="A bad row ends the run, or is passed over."),
        *_RUN_COMMAND,
    ),
    "sketch": (
        table.OUTPUT.but(help="File or URL to create, ending in .parquet.", is_required=False),
        table.INFO,
        *_SKETCH,
        table.OVERWRITE,
        *_RUN_COMMAND,
    ),
    "estimate": (
        table.OUTPUT,
        table.PAGE,
        *_ESTIMATE,
        _LISTED,
        table.PLACES,
        table.CLUSTERS.but(
            kind=table.REPRESENTATIVE.kind,
            default=None,
            help="smallest, modulo: write clusters of A instead of pairs. Each document joins the "
            "cluster that it resembles most, by its first member or by its most popular hashes.",
        ),
        table.LIMIT,
        table.TABLE_FORMAT,
        table.OVERWRITE,
        *_RUN_COMMAND,
    ),
    "report": (
        table.OUTPUT.but(help="Page to create, a file or URL that ends in .html."),
        table.AGAINST.but(
            help="The other documents that RESULT names, if it was made of two collections, or the "
            "folder of an index; files may be given several times."
        ),
        *_AGAINST,
        table.BY,
        table.LABELS,
        table.TRUST,
        *READING_TEXT,
        table.OVERWRITE.but(help="Replace the page if it exists."),
        *_RUN_COMMAND,
    ),
    "serve": SERVE,
    "plan": (
        *_MATCHING,
        table.KEEP,
        *_READING,
        table.DOCUMENTS,
        table.INPUT_SIZE,
        table.MEMORY,
        table.EXECUTORS,
        table.EXECUTOR_CORES,
        *_RUN_COMMAND,
    ),
}

# What the service does every so many seconds, an index may do at each look-up.
INDEX_REFRESH = table.REFRESH.but(
    kind=Choice(Refresh),
    default="auto",
    help="Whether each look-up sees what others have committed since the last one.",
)

# Options of the public functions, as their signatures write them out.
FUNCTIONS: dict[str, tuple[Option, ...]] = {
    "deduplicate": (table.AGAINST, *_AGAINST, table.ADD, *_DEDUP, *_WITHIN_MEMORY, *_RUN),
    "choose": (*_CHOOSE, *_WITHIN_MEMORY, *_RUN),
    "find_pairs": (*_AGAINST, *_PAIRS, *_PAIRS_WITHIN_MEMORY, *_RUN),
    "cut": (
        table.AGAINST,
        *_AGAINST,
        _SPANS.but(kind=Documents()),
        table.SIDE,
        table.TRUST,
        *_CUT,
        *_CUT_WITHIN_MEMORY,
        *_RUN,
    ),
    "compare": (*_COMPARE, *_RUN),
    "sketch": (*_SKETCH, *_RUN),
    "estimate": (*_ESTIMATE, table.PLACES, table.LIMIT, *_RUN),
    "cluster_sketches": (table.THRESHOLD.but(default="0.5"), table.REPRESENTATIVE),
    "align": (
        *_AGAINST,
        table.WITHIN,
        *_ALIGN,
        table.SUMMARY,
        table.WITH_TEXT,
        table.EXCERPT,
        *_SCHEME,
        *READING_TEXT,
        *_RUN,
    ),
    "report": (
        table.AGAINST,
        *_AGAINST,
        table.BY,
        table.LABELS,
        table.TRUST,
        *READING_TEXT,
        *_RUN,
    ),
    "open_index": (_SAME_TOKENIZER,),
    "DocumentIndex.create": SCHEME_OF_DOCUMENTS,
    "DocumentIndex.open": (
        _SAME_TOKENIZER,
        table.COMMIT_EVERY,
        table.LOCK_TIMEOUT,
        INDEX_REFRESH,
    ),
    "DocumentIndex.add": (*READING_TEXT, *_RUN),
    "DocumentIndex.query": _DOCUMENT_SEARCH,
    "DocumentIndex.insert_if_new": (_ASKED,),
    "DocumentIndex.search": (*_DOCUMENT_SEARCH, *READING_TEXT, *_RUN),
    "DocumentIndex.compact": _RUN,
    "PassageIndex.create": SCHEME_OF_PASSAGES,
    "PassageIndex.open": (_SAME_TOKENIZER, table.LOCK_TIMEOUT, INDEX_REFRESH),
    "PassageIndex.add": (*READING_TEXT, *_RUN),
    "PassageIndex.search": (*_SEARCH, table.REPORT, table.WITH_TEXT, *READING_TEXT, *_RUN),
    "PassageIndex.compact": _RUN,
}
