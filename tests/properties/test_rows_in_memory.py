"""Rows of any Python objects: documents are right, bad rows are skipped with their numbers."""

from __future__ import annotations

import datetime
import decimal
import json

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import neardup

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(
        ["\ud800", 1980, 1980.0, 2**63, [1], ["a", None], {"a": 1}, {"a": [{"b": "x"}]}]
    ),
    st.sampled_from([b"a", datetime.date(2020, 1, 1), decimal.Decimal("1.5")]),
)
rows = st.lists(
    st.fixed_dictionaries(
        {"text": st.sampled_from(["a b c", "d e f", ""]) | values, "n": values},
        optional={"m": values},
    ),
    min_size=1,
    max_size=8,
)


def is_unicode(value) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


@given(rows)
def test_deduplicate__good_rows_are_documents(rows):
    # A column without any text is refused as a whole.
    rows = [{"text": "a b c", "n": 1}, *rows]
    bad = [
        number
        for number, row in enumerate(rows, 1)
        if not isinstance(row["text"], str) or not all(map(is_unicode, row.values()))
    ]
    for data in (rows, pd.DataFrame(rows, dtype=object)):
        result = neardup.deduplicate(
            data, text=neardup.TextOptions(ngram=1), read=neardup.ReadOptions(on_error="skip")
        )
        assert result.skipped["row"].to_pylist() == bad
        assert result.summary["documents_in"] == len(rows) - len(bad)
        assert len(result.kept) == result.summary["documents_kept"]
