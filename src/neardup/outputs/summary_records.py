"""What ``summary.json`` of each job holds, as far as anything reads it: names, types, ranges.

Summaries are plain dictionaries in memory. One that comes from a file is held to these records
when it is read, so that no reader meets a key that is missing or a value of another type. Keys that
are not listed are taken as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args

import msgspec

from neardup.errors import InvalidInputError
from neardup.options.choices import Clusters, DocumentMeasure, Occurrences, OutputFormat

_MEASURES = [name for each in get_args(DocumentMeasure) for name in get_args(each)]

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Positive = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
_Names = Annotated[list[str], msgspec.Meta(min_length=1)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Threshold = Annotated[float, msgspec.Meta(gt=0, le=1)]


class Versions(TypedDict):
    """Versions of what made a result."""

    neardup: str


class File(TypedDict):
    """A file that was read."""

    name: str


class Reading(TypedDict):
    """Options that read the same texts again; those of files beside."""

    text_column: str | _Names
    id_column: str | None
    input_format: str
    encoding: str | None
    delimiter: str | None
    lines: bool
    main_text: bool
    alternative_texts: bool
    against_text_column: NotRequired[str | _Names | None]


class Scheme(TypedDict):
    """What decided shingles and signatures."""

    tokenizer: str
    casefold: bool
    unicode_form: str | None
    strip_accents: bool
    fold_digits: bool
    ngram: NotRequired[_Positive]
    occurrences: NotRequired[Occurrences]
    fingerprint: NotRequired[str]
    fingerprint_bits: NotRequired[_Positive]
    seed: NotRequired[Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]]
    tf: NotRequired[str]
    idf: NotRequired[str]
    frequencies: NotRequired[str | None]


class Counts(TypedDict):
    """Counts of the documents of a group."""

    documents_in: _Count
    documents_kept: _Count
    documents_removed: _Count
    removed_for_against: NotRequired[_Count]
    exact_copies: NotRequired[_Count]


class OfFile(Counts):
    """Those of a file; null for documents of none."""

    file: str | None


class OfValue(Counts):
    """Those of a value."""

    value: str | None


class Others(TypedDict):
    """The sums of groups that are not listed."""

    groups: _Count
    documents_removed: _Count


class Pair(TypedDict):
    """How many documents of a group went for one of a group."""

    kept_in: Literal["input", "against"]
    documents_removed: _Count


class PairOfFiles(Pair):
    """Those of two files."""

    file: str | None
    kept_file: str | None


class PairOfValues(Pair):
    """Those of two values."""

    value: str | None
    kept_value: str | None


class ByFile(TypedDict):
    """Counts by files."""

    counts: list[OfFile]
    others: Others | None
    pairs: list[PairOfFiles]
    other_pairs: Others | None


class ByValue(TypedDict):
    """Counts by the values of a column."""

    column: str
    counts: list[OfValue]
    others: Others | None
    pairs: list[PairOfValues]
    other_pairs: Others | None


class Audit(TypedDict):
    """What an audit has found."""

    documents: _Count
    similar_pairs: _Count
    found_pairs: _Count
    kept_although_similar: _Count
    recall: _Share | None
    interval: tuple[_Share, _Share] | None


class DedupSummary(TypedDict):
    """That of ``dedup``; decided by pairs if ``method`` says so."""

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
    # None where rows were not written.
    output_format: OutputFormat | None
    versions: Versions
    predicted_recall: _Share | None
    by: NotRequired[ByValue]
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


class Repeated(TypedDict):
    """What a cut found several times."""

    text: str
    copies: _Count


class CutSummary(TypedDict):
    """That of ``cut``."""

    documents_in: _Count
    documents_cut: _Count
    spans: _Count
    characters_removed: _Count
    versions: Versions
    most_repeated: NotRequired[list[Repeated]]
    against_documents: NotRequired[_Count]
    exact: NotRequired[bool]
    unit: NotRequired[str]
    threshold: NotRequired[_Share]
    predicted_recall: NotRequired[_Share]
    min_tokens: NotRequired[_Count]
    min_documents: NotRequired[_Count | None]


class DropSummary(TypedDict):
    """That of ``drop``."""

    named_documents: _Count


Job = Literal["dedup", "cut", "drop"]


def job_of(summary: dict[str, Any], folder: str) -> Job:
    """Return which job has written a summary that is as its record says.

    Raises
    ------
    InvalidInputError
        If it is of another command, of an earlier version, or has other values.
    """
    job = _job_by_keys(summary, folder)
    record: Any = {"dedup": DedupSummary, "cut": CutSummary, "drop": DropSummary}[job]
    try:
        msgspec.convert(summary, record)
    except msgspec.ValidationError as error:
        message = f"its summary.json is none that `neardup {job}` writes: {error}"
        raise InvalidInputError(message, path=folder) from None
    except OverflowError:
        message = f"its summary.json is none that `neardup {job}` writes: a number is too large"
        raise InvalidInputError(message, path=folder) from None
    if job == "dedup":
        _check_method(summary, folder)
    return job


def _job_by_keys(summary: dict[str, Any], folder: str) -> Job:
    if "spans" in summary:
        return "cut"
    if "named_documents" in summary:
        return "drop"
    if not {"documents_removed", "keep"} <= summary.keys():
        message = "its summary.json is of no `neardup dedup`, `cut` or `drop`; name another folder"
        raise InvalidInputError(message, path=folder)
    if not {"reading", "output_format"} <= summary.keys():
        message = (
            "its summary.json does not say how the texts were read; it is of an earlier version of "
            "neardup: run `neardup dedup` again"
        )
        raise InvalidInputError(message, path=folder)
    return "dedup"


def _check_method(summary: dict[str, Any], folder: str) -> None:
    """Raise unless there is what the method of a deduplication needs."""
    lacking, scheme = [], summary["scheme"] or {}
    if summary["method"] != "pairs":
        lacking = [
            name
            for name in ("threshold", "scheme", "predicted_recall", "exact_copies")
            if summary[name] is None
        ]
        lacking += [name for name in ("ngram", "occurrences") if name not in scheme]
        lacking += [] if summary["measure"] in _MEASURES else ["measure"]
    if summary["method"] == "minhash":
        lacking += [name for name in ("bands", "rows", "recall") if name not in summary]
        lacking += [] if "seed" in scheme else ["seed"]
    if summary["measure"] == "weighted-jaccard" and summary["method"] != "pairs":
        lacking += [name for name in ("tf", "idf") if name not in scheme]
    if summary.get("against_documents") and "removed_for_against" not in summary:
        lacking.append("removed_for_against")
    audit = summary.get("audit")
    if audit and (audit["recall"] is None) != (audit["interval"] is None):
        lacking.append("interval")
    if lacking:
        message = (
            "its summary.json is none that `neardup dedup` writes: "
            f"{lacking[0]!r} is missing, or goes with no such run"
        )
        raise InvalidInputError(message, path=folder)
