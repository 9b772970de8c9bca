"""Explain why a document was removed or kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError
from neardup.reports.examples import Document, compare_documents, example_lines, printable
from neardup.reports.text import share_of_one
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.output import Outcome, ResultOutcome, ShownTexts
from neardup.stages.result_tables import ReadCollection

# Collection of the document that stays, by the column ``kept_in``.
_WHERE = {"input": "", "against": " of the other collection"}


@dataclass(frozen=True, repr=False)
class ExplainResult:
    """The reason why a document was removed or kept.

    ``other`` is the document that stays for a removed one, and ``removal`` the row of
    ``removed.parquet``; both are None for a kept document, whose text is not read. ``note`` says
    why a text is missing.
    """

    document: Document
    other: Document | None
    removal: dict[str, Any] | None
    cluster_id: int
    cluster_size: int
    measure: str
    threshold: float
    note: str = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._headline()})"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Return the decision, the similarity and the differences as text."""
        lines = [self._headline(), f"  it is in {_place_of(self.document)}"]
        if self.other is not None:
            lines.append(f"  {printable(self.other.id)} is in {_place_of(self.other)}")
        if self.cluster_size > 1:
            size = counted(self.cluster_size, "document")
            lines.append(f"  cluster {self.cluster_id}, of {size}")
        if self.note:
            lines.append(f"  {self.note}")
        if self.other is not None and None not in (self.document.text, self.other.text):
            example = compare_documents("Differences", self.document, self.other)
            lines += ["", *example_lines(example)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the texts as plain values."""
        document, other = self.document, self.other
        return {
            "id": document.id,
            "file": document.file,
            "row": document.row,
            "is_in": "kept" if self.removal is None else "removed",
            "removal": self.removal,
            "cluster_id": self.cluster_id,
            "cluster_size": self.cluster_size,
            "measure": self.measure,
            "threshold": self.threshold,
            "other": other and {"id": other.id, "file": other.file, "row": other.row},
            "note": self.note or None,
        }

    def _headline(self) -> str:
        own = printable(self.document.id)
        if self.removal is None:
            n_removed = self.cluster_size - 1
            gone = f"; {counted(n_removed, 'document')} removed in favour of it"
            return f"{own} was kept{gone if n_removed else ''}"
        similarity, why = self.removal["similarity"], ""
        if self.removal["exact_copy"]:
            why = ": it has the same tokens"
        elif similarity is not None:
            why = f": {self.measure} similarity {share_of_one(similarity)}, "
            why += f"threshold {self.threshold:g}"
        of = _WHERE.get(self.removal["kept_in"], ", which the index denies")
        return f"{own} was removed in favour of {printable(str(self.removal['kept_id']))}{of}{why}"


def _place_of(document: Document) -> str:
    if document.file is None:
        return "the index"
    return f"{printable(document.file)}, row {document.row:,}"


def explain_document(
    outcome: Outcome, identifier: object, runner: Runner, against: ReadCollection | None = None
) -> ExplainResult:
    """Explain the decision about a document of a deduplication."""
    number = _number_of(outcome, identifier)
    row = outcome.clusters.take(np.array([number])).to_pylist()[0]
    found = ExplainResult(
        document=Document(str(row["id"]), row["file"], row["row"], None),
        other=None,
        removal=None,
        cluster_id=row["cluster_id"],
        cluster_size=row["cluster_size"],
        measure=outcome.summary["measure"],
        threshold=outcome.summary["threshold"],
    )
    if not row["is_duplicate"]:
        return found
    place = outcome.documents.count_removed_before(number)
    shown = ShownTexts(outcome, against, runner, removed=[place], keepers=[place])
    pair, note = shown.removal(place), ""
    if pair.second.text is None:
        note = pair.no_text or "the other document is of a collection that was not named"
    removal = shown.row(place)
    return replace(found, document=pair.first, other=pair.second, removal=removal, note=note)


def _number_of(outcome: Outcome, identifier: object) -> int:
    wanted, first = pa.scalar(str(identifier), pa.large_string()), 0
    for batch in outcome.clusters.batches("id"):
        place = pc.index(batch["id"].cast(pa.large_string()), wanted).as_py()
        if place >= 0:
            return int(first + place)
        first += len(batch)
    table = "result.clusters" if isinstance(outcome, ResultOutcome) else "clusters.parquet"
    message = f"no document has the id {str(identifier)!r}; {table} has all ids"
    if n_rows := outcome.summary.get("filtered_rows"):
        message += f"; {counted(n_rows, 'row')} did not meet where (--where)"
    raise InvalidParameterError(message, "id")
