"""The handle of an index of documents: what is open stays open, and is looked up again."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from neardup.documents.index import OpenDocuments
from neardup.documents.scheme import DocumentScheme, restore_document_scheme
from neardup.documents.segment import UNREAD, DocumentSegment
from neardup.storage.folder import create_index
from neardup.storage.handle import Handle, OpenFiles
from neardup.storage.manifest import Manifest, check_kind
from neardup.storage.segments import Segment
from neardup.text.stored import open_frequencies
from neardup.text.tokenizers import TokenFunction


class DocumentHandle(Handle[OpenDocuments]):
    """An open index of documents.

    Parameters
    ----------
    folder
        The index.
    tokenizer
        The ``tokenizer.json`` or the function that it was made with, if it was one.
    timeout, follows
        As for ``Handle``.
    """

    unread: ClassVar = UNREAD

    def __init__(
        self,
        folder: Path,
        tokenizer: str | Path | TokenFunction | None = None,
        *,
        timeout: float = 0.0,
        follows: bool = False,
    ) -> None:
        super().__init__(folder, timeout=timeout, follows=follows)
        self._tokenizer = tokenizer
        self._scheme: DocumentScheme | None = None
        self._segments: dict[Segment, DocumentSegment] = {}

    def make_view(self, files: OpenFiles) -> OpenDocuments:
        """See the files as an index; what was made of a segment before is taken as it is."""
        check_kind(self.folder, files.manifest, "documents")
        scheme = self._restore_scheme(files)
        known, self._segments = self._segments, {}
        for segment in files.segments:
            found = known.get(segment)
            self._segments[segment] = DocumentSegment(segment, scheme) if found is None else found
        segments = tuple(self._segments.values())
        return OpenDocuments(files.manifest, scheme, segments, files.removed)

    def _restore_scheme(self, files: OpenFiles) -> DocumentScheme:
        """Return the scheme; if it is another than before, so is what was made of all segments."""
        known = self._scheme
        if known is None or known.describe() != files.manifest.scheme or known.needs_frequencies:
            scheme = restore_document_scheme(files.manifest.scheme, self._tokenizer)
            self._scheme = scheme.with_frequencies(open_frequencies(files))
            self._segments = {}
        assert self._scheme is not None
        return self._scheme


def create_documents(folder: Path, scheme: DocumentScheme) -> None:
    """Make an empty index."""
    create_index(folder, Manifest(scheme.describe()))
