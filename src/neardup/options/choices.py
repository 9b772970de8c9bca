"""Values of the options that choose one of a few, for the table and for signatures."""

from __future__ import annotations

from typing import Literal

SetMeasure = Literal["jaccard", "cosine", "dice", "containment", "max-containment"]
DocumentMeasure = SetMeasure | Literal["weighted-jaccard"]
PairMeasure = SetMeasure | Literal["overlap", "weighted-jaccard", "hamming", "edit"]
Clusters = Literal["survivors", "components"]
Method = Literal["auto", "exact", "minhash"]
PairMethod = Literal["exact", "minhash"]
MissingValues = Literal["keep", "drop"]
Algorithm = Literal["auto", "allpairs", "ppjoin", "ppjoin+"]

Occurrences = Literal["set", "numbered"]
Fingerprint = Literal["mixer", "rabin"]
UnicodeForm = Literal["NFC", "NFKC"]
TermFrequency = Literal["binary", "raw", "log", "squared", "saturating"]
InverseFrequency = Literal["unary", "standard", "smooth", "probabilistic"]

SketchKindName = Literal["minhash", "weighted", "smallest", "modulo", "edit"]
EstimatedMeasure = Literal["jaccard", "weighted-jaccard", "containment", "max-containment", "edit"]
WindowHash = Literal["mixed", "sum"]
Representative = Literal["first", "popular"]

IndexKind = Literal["passages", "documents"]
Refresh = Literal["auto", "manual"]
AlignmentSummary = Literal["documents"]
Report = Literal["best", "maximal", "windows"]
PresetName = Literal["editions", "quotations", "rewording"]

CutUnit = Literal["passages", "paragraphs", "lines"]
Side = Literal["query", "doc"]

DocumentFormat = Literal["docx", "odt", "epub", "pdf"]
TextFormat = (
    Literal["auto", "text", "jsonl", "json", "csv", "tsv", "parquet", "arrow", "html", "warc"]
    | DocumentFormat
)
InputFormat = TextFormat | Literal["bytes"]
OnError = Literal["raise", "skip"]
Engine = Literal["threads", "spark"]
Missing = Literal["raise", "ignore"]
OutputFormat = Literal["same", "jsonl", "parquet"]
TableFormat = Literal["jsonl", "csv"]
