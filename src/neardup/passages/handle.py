"""The handle of a passage index: what is open stays open, and is looked up again and again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.passages.index import OpenIndex
from neardup.passages.scheme import PassageScheme, restore_scheme
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import read_segment
from neardup.storage.folder import create_index
from neardup.storage.handle import Handle, OpenFiles
from neardup.storage.manifest import Manifest, check_kind
from neardup.storage.segments import Segment
from neardup.text.stored import open_frequencies
from neardup.text.tokenizers import TokenFunction


class PassageHandle(Handle[OpenIndex]):
    """An open passage index; its segments keep their look-up tables for as long as they are in it.

    Parameters
    ----------
    folder
        The index.
    tokenizer
        The ``tokenizer.json`` that it was made with, if it was one.
    timeout, follows
        As for ``Handle``.
    """

    def __init__(
        self,
        folder: Path,
        tokenizer: str | Path | TokenFunction | None = None,
        *,
        timeout: float = 0.0,
        follows: bool = False,
    ) -> None:
        super().__init__(folder, timeout=timeout, follows=follows)
        self.tokenizer = tokenizer
        self._scheme: PassageScheme | None = None
        self._described: Mapping[str, Any] = {}
        self._searchers: dict[Segment, SegmentSearcher] = {}

    def make_view(self, files: OpenFiles) -> OpenIndex:
        """See the files as an index; what was made of a segment before is taken as it is."""
        check_kind(self.folder, files.manifest, "passages")
        scheme, frequencies = self._restore_scheme(files), open_frequencies(files)
        self._searchers = {
            segment: self._searchers.get(segment)
            or SegmentSearcher(read_segment(segment, scheme), scheme, frequencies)
            for segment in files.segments
        }
        searchers = tuple(self._searchers[segment] for segment in files.segments)
        return OpenIndex(files.manifest, scheme, frequencies, searchers, files.removed)

    def _restore_scheme(self, files: OpenFiles) -> PassageScheme:
        """Return the scheme; if it is another than before, so is what was made of all segments."""
        description = files.manifest.scheme
        if self._scheme is None or self._described != description:
            self._scheme = restore_scheme(description, self.tokenizer)
            self._described, self._searchers = description, {}
        return self._scheme


def create(folder: Path, scheme: PassageScheme) -> None:
    """Make an empty index."""
    create_index(folder, Manifest(scheme.describe()))
