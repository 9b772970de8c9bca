"""Find fields in rows of delimited text."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import Bools, ConstBytes, ConstInt64s, Int64s


@kernel
def find_fields(
    data: ConstBytes,
    row_starts: ConstInt64s,
    row_stops: ConstInt64s,
    delimiter: int,
    numbers: ConstInt64s,
    starts: Int64s,
    stops: Int64s,
    is_quoted: Bools,
) -> None:
    r"""Find some fields of rows of CSV or TSV, each a row that ``cut_delimited`` found.

    ``numbers[f]`` is -1 for a field that is not wanted, else its number among those that are, all
    from 0. Of field n of the w that are wanted, row r has its place in ``starts`` and ``stops``, at
    ``r * w + n``, with its quotes and without the end of the row; ``is_quoted`` says whether it
    begins with a quote. Rows have as many fields as ``numbers``.
    """
    n_wanted = np.int64(0)
    for f in range(numbers.shape[0]):
        n_wanted += np.int64(numbers[f] >= 0)
    for row in range(row_starts.shape[0]):
        i, stop = row_starts[row], row_stops[row]
        for f in range(numbers.shape[0]):
            start = i
            in_quotes = i < stop and data[i] == 34
            begins_quoted = in_quotes
            i += np.int64(in_quotes)
            while i < stop:
                byte = data[i]
                if in_quotes:
                    # Of two quotes the second opens again.
                    in_quotes = byte != 34 or (i + 1 < stop and data[i + 1] == 34)
                    i += 1 + np.int64(byte == 34 and in_quotes)
                    continue
                if byte == delimiter or byte == 10 or byte == 13:
                    break
                i += 1
            if numbers[f] >= 0:
                at = row * n_wanted + numbers[f]
                starts[at] = start
                stops[at] = i
                is_quoted[at] = begins_quoted
            i += 1
