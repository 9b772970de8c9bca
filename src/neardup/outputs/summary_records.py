"""Summary records: keys that commands read back, with checked types."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from neardup.errors import InvalidInputError
from neardup.options.choices import Clusters, DocumentUnit, Occurrences, OutputFormat

# Keys and types that a summary from a file must have; other keys stay as they are.

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Positive = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
_Names = Annotated[list[str], msgspec.Meta(min_length=1)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Threshold = Annotated[float, msgspec.Meta(gt=0, le=1)]


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


class FileCounts(TypedDict):
    """Document counts of a file, null for documents in memory."""

    file: str | None
    documents_in: _Count
    documents_kept: _Count
    documents_removed: _Count
    exact_copies: NotRequired[_Count]


class OtherFiles(TypedDict):
    """The sums of files that are not listed."""

    groups: _Count
    documents_in: _Count
    documents_removed: _Count


class ByFile(TypedDict):
    """Counts of documents by file."""

    counts: list[FileCounts]
    others: OtherFiles | None


class Audit(TypedDict):
    """Result of an audit."""

    recall: _Share | None
    interval: tuple[_Share, _Share] | None


class DedupRecord(TypedDict):
    """Keys of a summary of ``dedup`` that readers need."""

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
    versions: dict[str, str]
    predicted_recall: _Share | None
    inputs: NotRequired[list[dict[str, str | None]]]
    against_documents: NotRequired[_Count]
    against_id_column: NotRequired[str | None]
    against_skipped_rows: NotRequired[_Count]
    removed_for_against: NotRequired[_Count]
    empty_documents: NotRequired[_Count]
    short_documents: NotRequired[_Count]
    bands: NotRequired[_Positive]
    rows: NotRequired[_Positive]
    audit: NotRequired[Audit | None]
    # None if rows were not written.
    output_format: OutputFormat | None


class RepeatedText(TypedDict):
    """A text that a cut found several times."""

    text: str
    copies: _Count


class CutRecord(TypedDict):
    """The summary of ``cut`` as it is written."""

    documents_in: _Count
    documents_cut: _Count
    spans: _Count
    characters_removed: _Count
    versions: dict[str, str]
    most_repeated: NotRequired[list[RepeatedText]]
    against_documents: NotRequired[_Count]
    threshold: NotRequired[_Share]
    predicted_recall: NotRequired[_Share]


class DropRecord(TypedDict):
    """The summary of ``drop`` as it is written."""

    named_documents: _Count


def check_record(job: str, summary: dict[str, Any], folder: str) -> None:
    """Raise if a summary lacks keys or has wrong types."""
    record: Any = {"dedup": DedupRecord, "cut": CutRecord, "drop": DropRecord}[job]
    try:
        msgspec.convert(summary, record)
    except msgspec.ValidationError as error:
        message = f"its summary.json is none that `neardup {job}` writes: {error}"
        raise InvalidInputError(message, path=folder) from None
    except OverflowError:
        message = f"its summary.json is none that `neardup {job}` writes: a number is too large"
        raise InvalidInputError(message, path=folder) from None
