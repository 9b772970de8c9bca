"""Documents without a value in the columns that limit pairs to blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.columnwords import option_name
from neardup.reading.blocking import NO_KEY
from neardup.reading.catalogue import Catalogue
from neardup.tables import Uint64s


def count_outside(
    catalogues: Sequence[Catalogue], keys: Uint64s | None, columns: Sequence[str]
) -> int:
    """Count the documents that are compared with none, because they lack a value.

    Raises
    ------
    InvalidInputError
        If all documents of a collection do, as where a column is not there.
    """
    if keys is None:
        return 0
    n_outside = 0
    parts = np.split(keys, np.cumsum([len(each) for each in catalogues])[:-1])
    for catalogue, own in zip(catalogues, parts, strict=True):
        is_outside = catalogue.is_document & (own == NO_KEY)
        n_own = int(is_outside.sum())
        if n_own and n_own == int(catalogue.is_document.sum()):
            raise _no_values(catalogue, columns)
        n_outside += n_own
    return n_outside


def _no_values(catalogue: Catalogue, columns: Sequence[str]) -> InvalidInputError:
    source = catalogue.sources[0]
    named = " and ".join(map(repr, columns))
    message = (
        f"no document has a value in {'all columns ' if len(columns) > 1 else 'column '}{named}, "
        f"so that none would be compared; name another with {option_name('blocking')}"
    )
    there = source.column_names()
    if there:
        message += f"; columns are {', '.join(map(repr, there))}"
    return InvalidInputError(message, path=source.origin)
