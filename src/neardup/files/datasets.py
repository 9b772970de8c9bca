"""Folders made by ``save_to_disk`` of Hugging Face: which of their files hold rows."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from neardup.errors import InvalidInputError
from neardup.files.streams import reading

_STATE = "state.json"
_OF_ONE, _OF_SEVERAL = {_STATE, "dataset_info.json"}, "dataset_dict.json"


def saved_rows(folder: str, files: Collection[str]) -> set[str] | None:
    """Return the files of a folder that hold the rows of a saved data set; None if it is none.

    Beside them are files that describe it, and caches of earlier work with other rows. A folder of
    several data sets has nothing but folders, and the file that lists them.

    Raises
    ------
    InvalidInputError
        If the file that names them is damaged.
    """
    if _OF_SEVERAL in files:
        return set()
    if not _OF_ONE.issubset(files):
        return None
    state = Path(folder, _STATE)
    with reading(str(state)):
        content = state.read_bytes()
    try:
        return {str(about["filename"]) for about in json.loads(content)["_data_files"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"expected the state of a saved data set, which names its files: {error!r}"
        raise InvalidInputError(message, path=str(state)) from None
