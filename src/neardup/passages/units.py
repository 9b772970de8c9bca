"""Texts in units that are compared whole: lines, or paragraphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from neardup.kernels.text import tokens
from neardup.tables import Int64s, Texts

if TYPE_CHECKING:
    import pyarrow as pa

Unit = Literal["paragraphs", "lines"]

_NEWLINE, _RETURN = 10, 13


@dataclass(frozen=True)
class Units:
    """Some units of texts, by text and place; all arrays (n,), places in bytes of the text.

    Parameters
    ----------
    documents
        The number of the text that each is in.
    starts, stops
        What the unit is, stops exclusive: without the end of its last line.
    ends
        Where the next unit may start: behind the end of the line, and blank lines behind a
        paragraph.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    ends: Int64s

    def __len__(self) -> int:
        return len(self.documents)


def split_units(texts: pa.Array, unit: Unit) -> Units:
    r"""Find the units of texts.

    A line ends with ``\n``, ``\r\n`` or ``\r``. Blank lines, those of white space alone, are no
    lines here, and part paragraphs; blank lines in front of the first are of none.

    Parameters
    ----------
    texts
        An array of strings; a null has no units.
    unit
        Which units.
    """
    found = Texts.from_arrow(texts)
    data = found.data[int(found.offsets[0]) : int(found.offsets[-1])]
    n_most = sum(int(np.count_nonzero(data == byte)) for byte in (_NEWLINE, _RETURN)) + len(found)
    documents, starts, stops, ends = (np.empty(n_most, np.int64) for _ in range(4))
    count = tokens.find_units(
        found.data, found.offsets, int(unit == "paragraphs"), documents, starts, stops, ends
    )
    # Copies, for most line ends may be of blank lines.
    return Units(*(array[:count].copy() for array in (documents, starts, stops, ends)))
