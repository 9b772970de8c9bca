"""Keys and types of the summary of each job, and ranges of values in ``summary.json``.

Summaries are plain dictionaries in memory. A summary from a file is checked against the ``Record``
of its job, so that readers find every key with a value of its type. Other keys stay as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from neardup.errors import InvalidInputError
from neardup.options.choices import Clusters, DocumentUnit, Occurrences, OutputFormat

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Positive = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
_Names = Annotated[list[str], msgspec.Meta(min_length=1)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Threshold = Annotated[float, msgspec.Meta(gt=0, le=1)]


class Versions(TypedDict):
    """Versions of the software that made a result."""

    neardup: str
    python: NotRequired[str]
    numpy: NotRequired[str]
    pyarrow: NotRequired[str]


class File(TypedDict):
    """An input file and its path or URL; None for data in memory."""

    name: str
    origin: NotRequired[str | None]


class Skipped(TypedDict):
    """A bad row: its file, its number there, and the reason."""

    file: str
    row: int
    reason: str


# ``try`` is no name in Python.
Hint = TypedDict("Hint", {"name": str, "message": str, "try": list[dict[str, Any]], "index": bool})
Hint.__doc__ = "A property that does not suit the documents, and options of a job or index to try."


class Preset(TypedDict):
    """A preset, and the options that it has chosen."""

    name: str
    chosen: dict[str, Any]


class MethodChoice(TypedDict):
    """The chosen method, and the seconds expected of each."""

    chosen: str
    exact: float
    minhash: float


class Filtered(TypedDict, total=False):
    """The condition of --where and the number of rows left out; empty without one."""

    where: str
    filtered_rows: int


class _Ids(TypedDict):
    """The column of ids, None for file and row, and whether it is the default."""

    id_column: str | None
    id_column_by_default: bool


class _Read(_Ids, Filtered):
    """Keys of every job that reads documents."""

    skipped_rows: _Count
    skipped: NotRequired[list[Skipped]]
    passed_over: dict[str, int]
    notes: NotRequired[list[str]]


class Reading(TypedDict):
    """Options that read the same texts again."""

    text_column: str | _Names
    id_column: str | None
    input_format: str
    encoding: str | None
    delimiter: str | None
    document: NotRequired[DocumentUnit | None]
    main_text: bool
    against_text_column: NotRequired[str | _Names | None]


class Scheme(TypedDict):
    """Options of shingles and signatures."""

    tokenizer: str
    language: NotRequired[str]
    casefold: bool
    unicode_form: str | None
    strip_accents: bool
    ngram: NotRequired[_Positive]
    occurrences: NotRequired[Occurrences]
    seed: NotRequired[Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]]
    tf: NotRequired[str]
    idf: NotRequired[str]
    frequencies: NotRequired[str | None]
    hash_version: NotRequired[int]
    unicode_version: NotRequired[str]
    # Sketches that found the documents.
    kind: NotRequired[str]
    num_perm: NotRequired[int]


class Counts(TypedDict):
    """Counts of the documents of a group."""

    documents_in: _Count
    documents_kept: _Count
    documents_removed: _Count
    removed_for_against: NotRequired[_Count]
    exact_copies: NotRequired[_Count]


class FileCounts(Counts):
    """Counts of a file; its name is null for documents in memory."""

    file: str | None


class OtherGroups(TypedDict):
    """The sums of groups that are not listed."""

    groups: _Count
    documents_removed: _Count


class Pair(TypedDict):
    """How many documents of a group went for one of a group."""

    kept_in: Literal["input", "against"]
    documents_removed: _Count


class FilePair(Pair):
    """Counts of removed documents of a file for documents of another."""

    file: str | None
    kept_file: str | None


class ByFile(TypedDict):
    """Counts by files."""

    counts: list[FileCounts]
    others: OtherGroups | None
    pairs: list[FilePair]
    other_pairs: OtherGroups | None


class Audit(TypedDict):
    """Result of an audit."""

    documents: _Count
    similar_pairs: _Count
    found_pairs: _Count
    similar_documents: NotRequired[int]
    confidence: NotRequired[float]
    kept_although_similar: _Count
    recall: _Share | None
    interval: tuple[_Share, _Share] | None


class _Dedup(TypedDict):
    """Keys of ``dedup`` in memory and in a file."""

    documents_in: _Count
    documents_kept: _Count
    documents_removed: _Count
    exact_copies: _Count | None
    skipped_rows: _Count
    method: Literal["minhash", "exact", "pairs"]
    measure: str
    threshold: _Threshold | None
    keep: str
    clusters: Clusters
    scheme: Scheme | None
    by_file: ByFile
    input_files: _Count
    reading: Reading
    versions: Versions
    predicted_recall: _Share | None
    inputs: NotRequired[list[File]]
    against: NotRequired[list[File]]
    against_documents: NotRequired[_Count]
    against_id_column: NotRequired[str | None]
    against_skipped_rows: NotRequired[_Count]
    removed_for_against: NotRequired[_Count]
    empty_documents: NotRequired[_Count]
    short_documents: NotRequired[_Count]
    removed_beyond_survivors: NotRequired[_Count]
    recall: NotRequired[_Share]
    bands: NotRequired[_Positive]
    rows: NotRequired[_Positive]
    audit: NotRequired[Audit | None]


class DedupRecord(_Dedup):
    """The summary of ``dedup`` as it is written."""

    # None if rows were not written.
    output_format: OutputFormat | None


class DeniedCounts(TypedDict):
    """Documents removed for denied ones: with the same tokens, or by estimate."""

    exact: int
    estimated: int


class DedupSummary(_Dedup, _Read):
    """The summary of a deduplication."""

    workers: int
    seconds: dict[str, float]
    peak_memory_bytes: int
    output_format: NotRequired[OutputFormat | None]
    engine: NotRequired[str]
    distinct_texts: NotRequired[int]
    text_bytes: NotRequired[int]
    tokens: NotRequired[int]
    candidates: NotRequired[int]
    verified_pairs: NotRequired[int]
    removed_within: NotRequired[int]
    against_files: NotRequired[int]
    against_id_column_by_default: NotRequired[bool]
    against_skipped: NotRequired[list[Skipped]]
    documents_added: NotRequired[int]
    documents_known: NotRequired[int]
    documents_denied: NotRequired[DeniedCounts]
    removed_for_index: NotRequired[int]
    method_choice: NotRequired[MethodChoice]
    preset: NotRequired[Preset]
    hints: NotRequired[list[Hint]]
    pairs: NotRequired[int]
    pairs_at_threshold: NotRequired[int]
    least_threshold: NotRequired[float]
    least_threshold_is_stated: NotRequired[bool]
    pairs_method: NotRequired[str | None]


class RepeatedText(TypedDict):
    """A text that a cut found several times."""

    text: str
    copies: _Count
    documents: NotRequired[int]
    characters: NotRequired[int]


class CutRecord(TypedDict):
    """The summary of ``cut`` as it is written."""

    documents_in: _Count
    documents_cut: _Count
    spans: _Count
    characters_removed: _Count
    versions: Versions
    most_repeated: NotRequired[list[RepeatedText]]
    against_documents: NotRequired[_Count]
    exact: NotRequired[bool]
    unit: NotRequired[str]
    threshold: NotRequired[_Share]
    predicted_recall: NotRequired[_Share]
    min_tokens: NotRequired[_Count]
    min_documents: NotRequired[_Count | None]


class CutSummary(CutRecord, _Read):
    """The summary of a cut."""

    against_id_column: str | None
    against_id_column_by_default: bool
    against_skipped_rows: int
    against_skipped: NotRequired[list[Skipped]]
    text_bytes: int
    keep: str
    replacement: str
    engine: str
    workers: int
    hints: list[Hint]
    seconds: dict[str, float]
    peak_memory_bytes: int
    output_format: NotRequired[OutputFormat | None]
    empty_documents: NotRequired[int]
    short_documents: NotRequired[int]
    tokens: NotRequired[int]
    preset: NotRequired[Preset]


class DropRecord(TypedDict):
    """The summary of ``drop`` as it is written."""

    named_documents: _Count


class PairSummary(_Read):
    """The summary of a search for pairs."""

    documents: list[int]
    empty_documents: int
    short_documents: int
    tokens: int
    against_id_column: str | None
    against_id_column_by_default: bool
    against_skipped_rows: NotRequired[int]
    against_skipped: NotRequired[list[Skipped]]
    distinct_records: int
    pairs: int
    filters: dict[str, int]
    measure: str
    threshold: float | None
    method: Literal["exact", "minhash"]
    scheme: dict[str, Any]
    engine: str
    workers: int
    seconds: dict[str, float]
    hints: list[Hint]
    algorithm: NotRequired[str]
    recall: NotRequired[float]
    predicted_recall: NotRequired[float]
    bands: NotRequired[int]
    rows: NotRequired[int]
    max_distance: NotRequired[int]
    top: NotRequired[int]
    per_document: NotRequired[bool]
    steps: NotRequired[int]
    preset: NotRequired[Preset]
    blocking: NotRequired[list[str]]
    unblocked: NotRequired[int]
    also: NotRequired[list[str]]
    pairs_before_also: NotRequired[int]
    one_to_one: NotRequired[bool]
    similar_pairs: NotRequired[int]
    columns: NotRequired[list[str]]


class DocumentSearchSummary(_Read):
    """The summary of a search for documents; a service has fewer keys."""

    queries: int
    found_queries: int
    matches: int
    empty_queries: int
    measure: str
    threshold: float
    predicted_recall: float
    seconds: float
    hints: list[Hint]
    # With ``top``, the least of all that were found.
    top: NotRequired[int]
    least_similarity: NotRequired[float]
    incomplete_queries: NotRequired[int]
    engine: NotRequired[str]
    workers: NotRequired[int]
    # Of sketches.
    estimated: NotRequired[bool]


class PassageSummary(_Read):
    """The summary of an alignment or a search for passages."""

    passages: int
    predicted_recall: float
    seconds: float
    hints: list[Hint]
    preset: NotRequired[Preset]
    # Of either side, with a marker of places.
    marked_places: NotRequired[list[int]]
    # Of searches.
    queries: NotRequired[int]
    found_queries: NotRequired[int]
    empty_queries: NotRequired[int]
    short_queries: NotRequired[int]
    least_hits: NotRequired[int]
    # Of alignments; of each collection, where there are two.
    documents: NotRequired[list[int]]
    empty_documents: NotRequired[list[int]]
    short_documents: NotRequired[list[int]]
    threshold: NotRequired[float]
    min_tokens: NotRequired[int]
    ignored_tokens: NotRequired[int]
    aligned_documents: NotRequired[int]
    document_pairs: NotRequired[int]
    max_documents: NotRequired[int | None]
    windows: NotRequired[int]
    frequent_windows: NotRequired[int]
    hits: NotRequired[int]
    window_tokens: NotRequired[int]
    window_threshold: NotRequired[float]
    certain_tokens: NotRequired[int]
    predicted_recall_moved: NotRequired[float]
    gap: NotRequired[int | None]
    engine: NotRequired[str]
    workers: NotRequired[int]
    against_id_column: NotRequired[str | None]
    against_id_column_by_default: NotRequired[bool]


class SketchSummary(Filtered):
    """The summary of sketches; with keys of reading in the run that made them."""

    kind: str
    documents: int
    scheme: dict[str, Any]
    empty_documents: NotRequired[int]
    single_shingle_documents: NotRequired[int]
    id_column: NotRequired[str | None]
    id_column_by_default: NotRequired[bool]
    skipped_rows: NotRequired[int]
    skipped: NotRequired[list[Skipped]]
    passed_over: NotRequired[dict[str, int]]
    seconds: NotRequired[dict[str, float]]
    hints: NotRequired[list[Hint]]


class EstimateSummary(TypedDict):
    """The summary of estimates."""

    kind: str
    documents: list[int]
    short_sketches: int
    pairs: int
    estimated_pairs: int
    unusable_pairs: int
    exact_copies: int
    measure: str
    threshold: float | None
    super_shingles: int | None
    bands: int | None
    rows: int | None
    scheme: dict[str, Any]
    workers: int
    seconds: dict[str, float]


class ClusterSummary(TypedDict):
    """The summary of clusters of sketches."""

    kind: str
    documents: list[int]
    clusters: int
    largest_cluster: int
    single_documents: int
    threshold: float
    representative: str
    scheme: dict[str, Any]
    seconds: dict[str, float]


class CompareSummary(TypedDict):
    """The summary of a comparison of two texts."""

    passages: int
    share_a: float
    share_b: float
    options: dict[str, Any]
    workers: int
    seconds: dict[str, float]


Job = Literal["dedup", "cut", "drop"]


def check_record(job: Job, summary: dict[str, Any], folder: str) -> None:
    """Raise if a summary lacks a key of its job's record, or has a value of another type."""
    record: Any = {"dedup": DedupRecord, "cut": CutRecord, "drop": DropRecord}[job]
    try:
        msgspec.convert(summary, record)
    except msgspec.ValidationError as error:
        message = f"its summary.json is none that `neardup {job}` writes: {error}"
        raise InvalidInputError(message, path=folder) from None
    except OverflowError:
        message = f"its summary.json is none that `neardup {job}` writes: a number is too large"
        raise InvalidInputError(message, path=folder) from None


def job_by_keys(summary: dict[str, Any], folder: str) -> Job:
    """Return the job that wrote a summary."""
    if "spans" in summary:
        return "cut"
    if "named_documents" in summary:
        return "drop"
    if not {"documents_removed", "keep"} <= summary.keys():
        message = "its summary.json is of no `neardup dedup`, `cut` or `drop`; name another folder"
        raise InvalidInputError(message, path=folder)
    return "dedup"
