"""What an index keeps of texts for good: the description of its scheme, document frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.indexes.folder import write_extra
from neardup.indexes.handle import OpenFiles
from neardup.runs.disk import FileRecord
from neardup.text.tokenizers import TokenFunction, file_in_name
from neardup.text.weighting import DocumentFrequencies


def described_tokenizer(
    description: Mapping[str, Any], tokenizer: str | Path | TokenFunction | None
) -> str | Path | TokenFunction:
    """Return the tokenizer that is given, or that is described, if its name is enough."""
    name = str(description.get("tokenizer"))
    file = file_in_name(name)
    if tokenizer is None and file is not None:
        message = f"tokenizer must be given: this index was made with the file {file}"
        raise InvalidParameterError(message)
    return name if tokenizer is None else tokenizer


def check_restored(found: Mapping[str, Any], description: Mapping[str, Any]) -> None:
    """Make sure that a scheme is the one that was described."""
    differing = [key for key in {**found, **description} if found.get(key) != description.get(key)]
    if differing:
        raise SketchMismatchError(
            {key: (description.get(key), found.get(key)) for key in sorted(differing)}
        )


# The document frequencies of an index, which its first documents decide for good.

_HASHES, _COUNTS = "frequencies-hashes", "frequencies-counts"
_N_DOCUMENTS = "frequencies-documents"


def store_frequencies(folder: Path, frequencies: DocumentFrequencies) -> dict[str, FileRecord]:
    """Write frequencies; returns their entries for the manifest."""
    n_documents = np.array([frequencies.n_documents], np.int64)
    return {
        **write_extra(folder, _HASHES, frequencies.hashes),
        **write_extra(folder, _COUNTS, frequencies.counts),
        **write_extra(folder, _N_DOCUMENTS, n_documents),
    }


def open_frequencies(files: OpenFiles) -> DocumentFrequencies | None:
    """See files as frequencies; None if none were counted yet."""
    if f"{_N_DOCUMENTS}.npy" not in files.manifest.files:
        return None
    return DocumentFrequencies(
        files.extra(_HASHES, np.uint64),
        files.extra(_COUNTS, np.int64),
        int(files.extra(_N_DOCUMENTS, np.int64)[0]),
    )
