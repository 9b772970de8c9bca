"""The documents that a result names, as a report reads them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neardup.files.rows import ColumnNames, Source
from neardup.reading.texts_by_id import FoundText, read_texts_by_id
from neardup.runtime.runner import Runner


@dataclass(frozen=True)
class Collection:
    """The sources of a collection, and how the job that made the result has read them."""

    sources: Sequence[Source]
    columns: ColumnNames
    skip_bad: bool = False

    def texts(self, ids: Iterable[str | int], runner: Runner) -> dict[str, FoundText]:
        """Read the texts of some documents; see ``read_texts_by_id``."""
        return read_texts_by_id(self.sources, self.columns, ids, runner, skip_bad=self.skip_bad)
