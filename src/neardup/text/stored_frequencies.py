"""The document frequencies of an index, which its first documents decide for good."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from neardup.storage.checksums import FileRecord
from neardup.storage.extras import write_extra
from neardup.storage.handle import OpenFiles
from neardup.text.weighting import DocumentFrequencies

_HASHES, _COUNTS = "frequencies-hashes", "frequencies-counts"
_N_DOCUMENTS = "frequencies-documents"


def store_frequencies(folder: Path, frequencies: DocumentFrequencies) -> dict[str, FileRecord]:
    """Write frequencies; returns their entries for the manifest.

    Raises
    ------
    WriteError
        If they cannot be written.
    """
    n_documents = np.array([frequencies.n_documents], np.int64)
    return {
        **write_extra(folder, _HASHES, frequencies.hashes),
        **write_extra(folder, _COUNTS, frequencies.counts),
        **write_extra(folder, _N_DOCUMENTS, n_documents),
    }


def open_frequencies(files: OpenFiles) -> DocumentFrequencies | None:
    """See files as frequencies; None if none were counted yet.

    Raises
    ------
    IndexFormatError
        If one of the files is missing, or another type of array.
    """
    if f"{_N_DOCUMENTS}.npy" not in files.manifest.files:
        return None
    return DocumentFrequencies(
        files.extra(_HASHES, np.uint64),
        files.extra(_COUNTS, np.int64),
        int(files.extra(_N_DOCUMENTS, np.int64)[0]),
    )
