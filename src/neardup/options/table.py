"""The table of options: each once, with its kind, default and one line of help.

Where jobs differ in a default or in help, ``options.jobs`` says how.
"""

from __future__ import annotations

from neardup.options.choices import (
    Algorithm,
    AlignmentSummary,
    Clusters,
    CutUnit,
    DocumentMeasure,
    Engine,
    Fingerprint,
    InputFormat,
    InverseFrequency,
    Method,
    Missing,
    MissingValues,
    Occurrences,
    OnError,
    OutputFormat,
    PresetName,
    Report,
    Representative,
    Side,
    SketchKindName,
    TableFormat,
    TermFrequency,
    UnicodeForm,
    WindowHash,
)
from neardup.options.encodings import Delimiter, Encoding
from neardup.options.kinds import (
    Address,
    ByteSize,
    Choice,
    Columns,
    Conditions,
    CountOrPercent,
    Documents,
    Flag,
    FunctionOrFlag,
    Hosts,
    Location,
    OneOf,
    PathOrUrl,
    Positive,
    Seconds,
    Share,
    Switch,
    Text,
    Tokenizer,
    Whole,
)
from neardup.options.option import Option

# Where documents come from.
AGAINST = Option(
    "against",
    Documents(),
    "Also remove what is similar to a document of these files, or of this index; files may be "
    "given several times.",
    metavar="OTHER",
    is_repeatable=True,
)
ADD = Option("add", Flag(), "Add what stays to the index that --against names.", default=False)
TEXT_COLUMN = Option(
    "text_column",
    Columns(),
    "Column of the text; several are joined with newlines in the order given.",
    "text",
    is_repeatable=True,
)
ID_COLUMN = Option(
    "id_column",
    Text(),
    "Column of the ids; '' for <file name>:<row number>.",
    usual="id, if all inputs have one; else ''",
)
ENCODING = Option(
    "encoding",
    Encoding(),
    "Encoding of text, CSV, JSON and web pages, by its name in Python, such as latin-1, cp1252 or "
    "utf-16.",
    usual="what a page says of itself, else utf-8",
)
DELIMITER = Option(
    "delimiter",
    Delimiter(),
    "What separates the fields of CSV and TSV: a character, or tab.",
    usual="a comma; a tab for TSV",
)
AGAINST_TEXT_COLUMN = Option(
    "against_text_column",
    Columns(),
    "Column of the text in OTHER; several as of INPUT.",
    usual="that of INPUT",
    is_repeatable=True,
)
AGAINST_ID_COLUMN = Option(
    "against_id_column", Text(), "Column of the ids in OTHER.", usual="as of INPUT"
)
LINES = Option("lines", Flag(), "Text files hold one document a line.", default=False)
MAIN_TEXT = Option(
    "main_text",
    Flag(),
    "Of web pages the main text counts, without menus and the like, not all that is visible.",
    default=False,
)
ALTERNATIVE_TEXTS = Option(
    "alternative_texts",
    Flag(),
    "Visible text of web pages includes the alternative texts of images.",
    default=False,
)
BY_ENDING = (
    "What all files are read as, whatever their endings. auto: by ending; a file that is named and "
    "has another one is text, those of a folder are passed over. html: texts are web pages, in "
    "tables too; a file without the ending of a table is one page."
)
INPUT_FORMAT = Option(
    "input_format",
    Choice(InputFormat),
    f"{BY_ENDING} bytes: each file is one document, whatever it holds, and its bytes are tokens.",
    "auto",
)
ON_ERROR = Option(
    "on_error",
    Choice(OnError),
    "A bad row ends the run, or is left out, counted and named; a job that writes a folder puts it "
    "into skipped/. "
    "A column that a whole CSV or Parquet file lacks always ends it.",
    "raise",
)

# How texts become tokens, and tokens shingles.
TOKENIZER = Option(
    "tokenizer",
    Tokenizer(),
    "words, whitespace, characters, lines, bytes, or the path of a tokenizer.json file.",
    usual="words",
)
NGRAM = Option("ngram", Whole(1, 65536), "Tokens in a shingle.", usual="5; 1 for weighted-jaccard")
OCCURRENCES = Option(
    "occurrences",
    Choice(Occurrences),
    "Shingles as a set, or each copy as an element of its own (multiset).",
    "set",
)
FINGERPRINT = Option(
    "fingerprint",
    Choice(Fingerprint),
    "How shingles are hashed; the collisions of rabin are bounded, whatever the texts are.",
    usual="mixer",
)
FINGERPRINT_BITS = Option(
    "fingerprint_bits",
    OneOf(numbers=(32, 40, 64)),
    "Bits that tell shingles apart: 32, 40 or 64. Of 10,000 shingles two are taken for the same "
    "with probability 0.012, 0.000045 or 3e-12.",
    usual="64",
)
CASEFOLD = Option(
    "casefold", Switch(), "Upper and lower case are the same.", usual="for words only"
)
UNICODE_FORM = Option(
    "unicode_form", Choice(UnicodeForm, "NFC, NFKC or None"), "Normalise text first."
)
STRIP_ACCENTS = Option("strip_accents", Flag(), "Accents do not count.", default=False)
FOLD_DIGITS = Option(
    "fold_digits",
    Flag(),
    "Digits of other scripts count as 0 to 9; different numbers stay different.",
    default=False,
)

# What counts as similar, and how surely it is found.
MEASURE = Option("measure", Choice(DocumentMeasure), "Similarity of two documents.", "jaccard")
THRESHOLD = Option(
    "threshold", Share(), "Least similarity, in (0, 1]; an exact decimal.", "0.8", metavar="T"
)
RECALL = Option(
    "recall",
    Share(),
    "Least probability that a pair at the threshold is found.",
    usual="0.99",
    metavar="P",
)
HITS = Option(
    "hits",
    Whole(1),
    "Min-hashes in common at least, instead of choosing their number for the recall.",
    metavar="N",
)
NUM_PERM = Option("num_perm", Whole(1, 65536), "MinHash functions at most.", usual="128")
BANDS = Option("bands", Whole(1), "Bands, instead of choosing them for the recall.")
ROWS = Option("rows", Whole(1), "Rows in a band; goes with --bands.")
SEED = Option(
    "seed",
    Whole(0, 2**64 - 1, within="0 and 2^64 - 1"),
    "Selects the hash functions.",
    usual="42",
)
TF = Option(
    "tf",
    Choice(TermFrequency),
    "For weighted-jaccard: what a shingle weighs by how often a document has it.",
    usual="raw",
)
IDF = Option(
    "idf",
    Choice(InverseFrequency),
    "For weighted-jaccard: what it weighs by how few documents have it.",
    usual="smooth",
)

# Deduplication.
KEEP = Option(
    "keep",
    Text(),
    "Which of similar documents stays: first, longest, shortest, max:COLUMN, min:COLUMN or "
    "priority:COLUMN=A,B,C.",
    "first",
)
PAIRS = Option(
    "pairs",
    Address(),
    "Table that `neardup pairs` has made of INPUT: decide by its pairs, at their threshold or a "
    "higher one, and compare no text again.",
    metavar="FILE",
)
CLUSTERS = Option(
    "clusters",
    Choice(Clusters),
    "Remove what is similar to a document that stays, or all but one of every chain.",
    "survivors",
)
METHOD = Option(
    "method",
    Choice(Method),
    "How similar documents are found: by sketches, exactly, or exactly where that is not much "
    "more work.",
    "minhash",
)
BY = Option(
    "by",
    Text(),
    "Also count documents by the values of this column of INPUT.",
    metavar="COLUMN",
)
AUDIT = Option(
    "audit",
    Whole(1),
    "Compare N documents with all others exactly and report the recall seen.",
    metavar="N",
)

# Pairs.
MAX_DISTANCE = Option(
    "max_distance",
    Whole(0),
    "Most edits (insertions, deletions, substitutions), instead of a threshold; for hamming most "
    "shingles that one of two documents lacks.",
    metavar="D",
)
TOP = Option(
    "top",
    Whole(1),
    "Only the K most similar pairs; with --max-distance those of least distance.",
    metavar="K",
)
PER_DOCUMENT = Option(
    "per_document",
    Flag(),
    "Only the --top K partners of each document of INPUT.",
    default=False,
)
ALGORITHM = Option(
    "algorithm",
    Choice(Algorithm),
    "Filters that the exact method uses; the pairs are the same. auto chooses by the data.",
    usual="auto",
)
BLOCKING = Option(
    "blocking",
    Columns(),
    "Compare only documents with equal values in this column; of several columns in all of them.",
    metavar="COLUMN",
    is_repeatable=True,
)
ALSO = Option(
    "also",
    Conditions(),
    "Only pairs that are also similar in another column, as title:jaccard:0.5 says; by jaccard, "
    "cosine, dice, containment, max-containment or edit. May be given several times.",
    metavar="COLUMN:MEASURE:THRESHOLD",
    is_repeatable=True,
)
ALSO_MISSING = Option(
    "also_missing",
    Choice(MissingValues),
    "Whether pairs stay of which a document has no value in a column of --also, which decides "
    "nothing then.",
    usual="keep",
)
ONE_TO_ONE = Option(
    "one_to_one",
    Flag(),
    "No document in more than one pair: of all pairs found, the most similar first, those of which "
    "neither document is in one already.",
    default=False,
)
COLUMNS_OF_BOTH = Option(
    "with_columns",
    Columns(),
    "Add these columns of both documents, title as title_a and title_b; several are parted by "
    "commas, or given one by one.",
    flags=("--columns",),
    metavar="COLUMNS",
    is_repeatable=True,
)
LIMIT = Option("limit", Whole(1), "End with an error at more than N pairs.", metavar="N")

# Passages.
MIN_TOKENS = Option(
    "min_tokens",
    Whole(1, 65536, within="1 and 65,536"),
    "Tokens of the shortest passage that is found for certain.",
    usual="50",
)
PRESET = Option(
    "preset",
    Choice(PresetName),
    "What passages are looked for; chooses --threshold, --min-tokens, --gap and --idf where they "
    "are not given.",
    flags=("--for",),
)
GAP = Option(
    "gap",
    Whole(0),
    "Tokens of either text that may lie between two parts of a passage, whatever these share: "
    "more keep editions in one piece, fewer keep quotations apart.",
    usual="five for each token shared on the lesser side of the gap",
    metavar="TOKENS",
)
WITHIN = Option(
    "within",
    Flag(),
    "Without --against: also passages that a document has twice.",
    default=False,
)
MAX_DOCUMENTS = Option(
    "max_documents",
    CountOrPercent(),
    "Leave out what more than N documents have, of OTHER or else of INPUT, such as licences and "
    "headers; P% is a share of them, of two at least.",
    metavar="N|P%",
)
IGNORE = Option(
    "ignore",
    Documents(),
    "Documents whose text counts nowhere, such as a prompt or a form: runs of tokens that they "
    "have are taken for not written. May be given several times.",
    metavar="FILE",
    is_repeatable=True,
)
REPORT = Option("report", Choice(Report), "Which of the passages found are reported.", "best")
MAXIMAL = Option(
    "maximal",
    Flag(),
    "All passages at the threshold that are part of no longer one, instead of the most "
    "similar ones that do not overlap.",
    default=False,
)
ALL_WINDOWS = Option(
    "all_windows",
    Flag(),
    "All candidates as ranges of starts and ends, not compared exactly.",
    default=False,
)
COLUMNS = Option(
    "columns",
    Columns(),
    "Keep this column of the input with each document; may be given several times.",
    flags=("--keep-column",),
    metavar="COLUMN",
    is_repeatable=True,
)
LOCK_TIMEOUT = Option(
    "timeout", Seconds(0), "Seconds to wait for the write lock of an index.", default=5.0
)
COMMIT_EVERY = Option("commit_every", Whole(1), "Commit after so many insertions.")
WITH_TEXT = Option("with_text", Flag(), "Add the passages' texts.", default=False)
EXCERPT = Option(
    "excerpt",
    Whole(2),
    "Add the passages' texts, each in N characters at most and in one line.",
    metavar="N",
)
SUMMARY = Option(
    "summary",
    Choice(AlignmentSummary, "documents or None"),
    "documents: one row a pair of documents, with how much of either the other has.",
)
NO_TEXT = Option("no_text", Flag(), "Leave out the passages' texts.", default=False)
IDS = Option(
    "id_file",
    Location(is_file=True),
    "File with one id a line; - for standard input.",
    flags=("--ids",),
)

# Sketches.
INFO = Option(
    "info",
    PathOrUrl(),
    "Tell what a file of sketches holds, instead of making one.",
    metavar="FILE",
)
KIND = Option(
    "kind",
    Choice(SketchKindName),
    "For Jaccard similarity (minhash; smallest: with less error), weighted Jaccard "
    "similarity, containment too (modulo), or edit distance.",
    "minhash",
)
SIZE = Option(
    "size",
    Whole(1, 2**20, within="1 and 1,048,576"),
    "smallest, modulo: hashes kept, 8 bytes each; of modulo once to twice as many.",
    usual="256; 100 for modulo",
)
MODULUS = Option(
    "modulus",
    Whole(1, 2**32, within="1 and 2^32"),
    "modulo: one for all documents.",
    usual="by each one's size",
)
BLOCKS = Option(
    "blocks",
    Whole(1),
    "Sketch blocks of N characters of each document instead of the whole, one row a block, with "
    "its start and end.",
    metavar="N",
)
IDF_FROM = Option(
    "idf_from",
    Documents(),
    "weighted: count the documents of these files instead of INPUT's; may be given several times.",
    metavar="OTHER",
    is_repeatable=True,
)
COMPRESSION = Option(
    "compression",
    Whole(1, 2**20, within="1 and 1,048,576"),
    "edit: characters for a symbol of 4 bytes.",
    usual="100",
)
NEIGHBOURHOOD = Option("neighbourhood", Whole(1, 256), "edit: characters in a window.", usual="12")
HASH = Option(
    "hash",
    Choice(WindowHash, "'mixed' or 'sum'"),
    "edit: windows are hashed, or their characters' codes added up as in the paper.",
    usual="mixed",
)
LETTERS = Option(
    "letters",
    Whole(2, 2**32, within="2 and 4,294,967,296"),
    "edit: different symbols; 2 take a bit each.",
    usual="2^32",
)
# Below the compression, whatever that is.
RESIDUE = Option("residue", Whole(), "edit, sum: which rest a sum has that counts.", usual="0")
MIN_SIGNIFICANCE = Option(
    "min_significance",
    Positive(),
    "edit: only pairs that are nearer than unrelated texts by Z standard deviations.",
    metavar="Z",
)
SUPER_SHINGLES = Option(
    "super_shingles",
    Whole(1),
    "minhash, weighted: only pairs that agree in N super-shingles or more, each a hash of --rows "
    "min-hashes; a document has --bands of them.",
    metavar="N",
)
PLACES = Option(
    "places",
    Flag(),
    "edit: also tell where the shorter text seems to lie in the longer one.",
    default=False,
)
REPRESENTATIVE = Option(
    "representative", Choice(Representative), "What stands for a cluster.", "first"
)

# Comparison of two texts.
HTML = Option(
    "html",
    PathOrUrl(),
    "Also write a page with both texts side by side, shared passages linked by colour.",
    metavar="FILE",
)
PAGE = Option(
    "page",
    PathOrUrl(),
    "Also write a page that shows what was found and why, one file that ends in .html.",
    flags=("--report",),
    metavar="FILE",
)
LABELS = Option(
    "labels",
    Documents(),
    "Pairs that are right, a table with id_a and id_b; the page has precision and recall of those "
    "found.",
    metavar="FILE",
)
OTHER = Option(
    "other",
    Text(),
    "Also say what is between ID and the document of this id: similarity, buckets, and which rule "
    "decided.",
    flags=("--with",),
    metavar="ID",
)
CLOSEST = Option(
    "closest",
    Whole(0),
    "How many of the most similar documents are listed, at the threshold and below; found by "
    "comparing with all. 0: none, and no text but the few that are shown is read.",
    3,
    metavar="N",
)
EXAMPLES = Option("examples", Whole(1), "How many.", 10, metavar="N", flags=("-n", "--examples"))
LEAST = Option("least", Flag(), "The least similar ones.", default=False)
MOST = Option("most", Flag(), "The most similar ones.", default=False)
SHOW_ALL = Option(
    "show_all",
    Flag(),
    "Show every measure with its exact value, and what sketches would have estimated.",
    default=False,
    flags=("--all",),
)
EDIT_LIMIT = Option(
    "edit_limit",
    Whole(0),
    "Work out the exact edit distance of texts of up to N characters each, or as large a "
    "product; beyond, only estimate it.",
    100_000,
    metavar="N",
)

# Removal of documents that a table names.
NAMED_IN = Option(
    "named_in",
    Address(),
    "Table with the ids of the documents to remove, as written by `neardup search`, "
    "`neardup align` or `neardup pairs`, or a .txt file with one id a line.",
    metavar="FILE",
    is_required=True,
)
COLUMN = Option("column", Text(), "Column of FILE with the ids.", usual="doc_id")
MISSING = Option(
    "missing",
    Choice(Missing),
    "An id in FILE that no document has ends the run, or is counted only.",
    "raise",
)

TRUST = Option(
    "trust",
    Flag(),
    "Take tables, and the summary.json beside them, as they are: somebody has changed them on "
    "purpose since they were written.",
    default=False,
)

# What is cut out of texts.
UNIT = Option(
    "unit",
    Choice(CutUnit),
    "What goes: passages of any extent, or whole paragraphs, parted by blank lines, or lines.",
    usual="passages",
)
EXACT = Option("exact", Flag(), "Only what is equal, token by token.", default=False)
MIN_DOCUMENTS = Option(
    "min_documents",
    Whole(2),
    "Only what so many documents have, such as menus and footers; without it also what one has "
    "twice.",
    metavar="N",
)
REPLACEMENT = Option(
    "replacement", Text(), "What is put in the place of something that goes; else nothing.", ""
)
SIDE = Option(
    "side",
    Choice(Side),
    "Which passages of FILE go. Needed if INPUT has ids of both sides, but is one of them.",
    usual="the side that INPUT is; of documents that are compared with each other the later one",
)

# The service.
HOST = Option(
    "host",
    Hosts(),
    "Address to listen at; one that other machines reach needs --token-file.",
    "127.0.0.1",
    metavar="ADDRESS",
)
PORT = Option("port", Whole(0, 65535), "Port to listen at; 0 takes a free one.", 8600)
ALLOWED_HOST = Option(
    "allowed_host",
    Hosts(),
    "Another name under which the service is asked, such as that of a proxy before it; may be "
    "given several times.",
    metavar="NAME",
    is_repeatable=True,
)
TOKEN_FILE = Option(
    "token_file",
    Location(is_file=True),
    "File with one token a line; who sends none of them gets no answer.",
)
WRITABLE = Option("writable", Flag(), "Documents may be inserted and removed, too.", default=False)
REFRESH = Option(
    "refresh",
    Seconds(0.1),
    "How often to look for what other processes have changed.",
    2.0,
    metavar="SECONDS",
)
MAX_BODY = Option(
    "max_body", ByteSize(1_000_000), "Largest body of a request.", usual="16MB", metavar="SIZE"
)
MAX_TEXTS = Option("max_texts", Whole(1), "Most texts or ids in a request.", 1000, metavar="N")
MAX_SECONDS = Option(
    "max_seconds",
    Seconds(0.1),
    "Longest time for a body to arrive, and for a request to be worked on.",
    30.0,
    metavar="SECONDS",
)
MAX_WAITING = Option(
    "max_waiting",
    Whole(1, 100_000),
    "Most look-ups that wait for a thread; an eighth as many batches and comparisons.",
    256,
    metavar="N",
)
STOP_SECONDS = Option(
    "stop_seconds",
    Seconds(0),
    "How long requests under way may take when the service is asked to end.",
    10.0,
    metavar="SECONDS",
)
CHECK = Option("check", Flag(), "Open the indexes, check the options, and end.", default=False)

# Where results go, and how the run goes.
OUTPUT = Option(
    "output",
    PathOrUrl(),
    "File or URL to create: .parquet, .csv, .jsonl or .xlsx; - for standard output.",
    flags=("-o", "--output"),
    is_required=True,
)
TABLE_FORMAT = Option(
    "table_format",
    Choice(TableFormat),
    "Format of the table where the name of the output does not say it.",
    usual="jsonl",
    flags=("--output-format",),
)
OUTPUT_FORMAT = Option(
    "output_format",
    Choice(OutputFormat),
    "Format of the rows written; same leaves every row as it came in.",
    "same",
    flags=("--format",),
)
OVERWRITE = Option("overwrite", Flag(), "Replace the output file if it exists.", default=False)
STATS = Option("stats", Flag(), "Print what each filter did.", default=False)
ENGINE = Option(
    "engine",
    Choice(Engine),
    "What does the work: threads of this process, or a Spark session; its executors have to reach "
    "inputs and output under the same paths or URLs.",
    "threads",
)
WORKERS = Option("workers", Whole(1), "Threads.", usual="one a core")
MEMORY = Option(
    "memory",
    ByteSize(16_000_000),
    "Most memory to use, such as 4GB; what does not fit goes to files in --work.",
    usual="60 % of what is free",
    metavar="SIZE",
)
WORK = Option(
    "work",
    Location(),
    "Folder for temporary files, by which a run that was stopped goes on.",
    usual="beside the output",
    metavar="DIR",
)
FRESH = Option(
    "fresh", Flag(), "Start over instead of going on with a run that was stopped.", default=False
)
DOCUMENTS = Option(
    "documents",
    Whole(1),
    "Plan for so many documents, of which INPUT is a random sample.",
    usual="those of INPUT",
)
INPUT_SIZE = Option(
    "input_size",
    ByteSize(1_000_000),
    "Plan for files of this size, such as 5TB, of which INPUT is a random sample: the first rows "
    "of a file, where copies stand together, are none.",
    usual="that of INPUT",
    metavar="SIZE",
)
EXECUTORS = Option(
    "executors", Whole(1), "Estimate the time on a Spark cluster of so many executors, too."
)
EXECUTOR_CORES = Option("executor_cores", Whole(1), "Cores of each executor.", usual="4")
PROGRESS = Option(
    "progress",
    FunctionOrFlag(),
    "Show progress, or call a function with the name of a stage, the work done, and its amount.",
)
QUIET = Option("quiet", Flag(), "Print nothing but errors.", default=False)
AS_JSON = Option(
    "as_json", Flag(), "Print the result as one JSON object.", default=False, flags=("--json",)
)
