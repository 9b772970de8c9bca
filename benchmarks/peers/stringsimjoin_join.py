"""py_stringsimjoin's join of prepared sets: ``stringsimjoin_join.py STEM 0.8``.

It joins columns of text; each set is a text of its elements' numbers with blanks between, which is
the cheapest for it to cut. It knows only joins of two tables, so a table is joined with itself and
every pair found twice. Prints seconds, pairs and memory as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from py_stringmatching.tokenizer.delimiter_tokenizer import DelimiterTokenizer
from py_stringsimjoin.join.jaccard_join import jaccard_join

from benchmarks.joins.exchange import Integers, time_peer_join


def prepare(sets: Iterator[list[int]]) -> pd.DataFrame:
    """Write each set as a text."""
    texts = [" ".join(map(str, elements)) for elements in sets]
    return pd.DataFrame({"number": np.arange(len(texts)), "text": texts})


def join(records: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Join the table with itself."""
    return jaccard_join(
        records,
        records,
        "number",
        "number",
        "text",
        "text",
        DelimiterTokenizer(return_set=True),
        threshold,
        allow_empty=False,
        show_progress=False,
    )


def columns(found: pd.DataFrame) -> tuple[Integers, Integers]:
    """Return the numbers of both records, of each pair once."""
    once = found[found["l_number"] < found["r_number"]]
    return once["l_number"].to_numpy(np.int64), once["r_number"].to_numpy(np.int64)


if __name__ == "__main__":
    time_peer_join(__doc__, prepare, join, columns)
