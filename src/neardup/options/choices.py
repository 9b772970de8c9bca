"""Types of option values, for declarations and callers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol


class ArrowStream(Protocol):
    """A table that exports an Arrow stream, as pandas does."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows (the PyCapsule protocol)."""


class OpenedIndex(Protocol):
    """An index that is open: of documents, or of passages."""

    @property
    def folder(self) -> Path:
        """Return the folder of the index."""


# A path, glob or URL as a string; a list of paths; a list of strings (texts; None is a bad row) or
# of dictionaries; a table.
Data = str | Path | Iterable[str | Path | Mapping[str, Any] | None] | ArrowStream
DataOrIndex = Data | OpenedIndex

# A number that is taken as the exact decimal that was typed.
Number = str | float | Decimal | Fraction
ColumnNames = str | Sequence[str]

TokenFunction = Callable[[str], Iterable[str | int | tuple[int, int] | tuple[str | int, int, int]]]
"""From a text to its tokens, in the order of the text.

A token is a string, an integer, or a tuple with a position in characters of the text that the
function gets. (start, stop) takes the text of that range. (token, start, stop) has another string
or integer, such as a stem. neardup searches a string without a position after the previous token.
"""
TokenizerChoice = str | Path | TokenFunction

# True shows progress, False does not; a function is called with the name of a stage, the work done
# so far, and its amount where it is known.
Progress = Callable[[str, int, int | None], None] | bool

SetMeasure = Literal["jaccard", "cosine", "dice", "containment", "max-containment"]
DocumentMeasure = SetMeasure | Literal["weighted-jaccard"]
PairMeasure = SetMeasure | Literal["overlap", "weighted-jaccard", "edit"]
Clusters = Literal["survivors", "components"]
Method = Literal["exact", "minhash"]
PairMethod = Literal["exact", "minhash", "allpairs", "ppjoin", "ppjoin+"]
Algorithm = Literal["allpairs", "ppjoin", "ppjoin+"]

Occurrences = Literal["set", "numbered"]
Fingerprint = Literal["mixer", "rabin"]
UnicodeForm = Literal["NFC", "NFKC"]
TermFrequency = Literal["binary", "raw", "log", "squared"]
InverseFrequency = Literal["unary", "standard", "smooth", "probabilistic"]

SketchKindName = Literal["minhash", "weighted", "smallest", "modulo", "edit"]
EstimatedMeasure = Literal["jaccard", "weighted-jaccard", "containment", "max-containment", "edit"]

IndexKind = Literal["passages", "documents"]
PassageMeasure = Literal["jaccard", "containment"]
AlignmentSummary = Literal["documents"]
DocumentPreset = Literal["ocr", "titles", "code"]
PassagePresetName = Literal["ocr", "code", "editions", "quotations", "rewording"]
CutPreset = Literal["ocr", "code"]
PresetName = Literal["ocr", "titles", "code", "editions", "quotations", "rewording"]

CutUnit = Literal["passages", "paragraphs", "lines", "sentences"]

DocumentUnit = Literal["line", "folder"]
DocumentFormat = Literal["docx", "odt", "epub", "pdf"]
InputFormat = (
    Literal["auto", "text", "jsonl", "json", "csv", "tsv", "parquet", "arrow", "html", "warc"]
    | Literal["xlsx"]
    | DocumentFormat
)
OnError = Literal["raise", "skip"]
Engine = Literal["threads", "spark"]
Missing = Literal["raise", "ignore"]
OutputFormat = Literal["same", "jsonl", "parquet", "none"]
