from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.file.rawrows import find_fields
from tests.arrays import make_texts
from tests.examples import examples

FIELDS = ["", "a", " é", '"', 'a"b', "x'", '""', '"a;b"', '"\r\n"', '"""a"";"', '"a"b']
# A quote at the start opens what a later one closes; such a field is not among these.
FIELD = st.sampled_from([field for field in FIELDS if field != '"'])


@examples(100)
@given(n_fields=st.integers(1, 4), data=st.data())
def test_find_fields__as_they_are_written(n_fields, data):
    row = st.lists(FIELD, min_size=n_fields, max_size=n_fields)
    rows = data.draw(st.lists(row, min_size=1, max_size=3))
    ends = [data.draw(st.sampled_from(["\n", "\r\n", "\r", ""])) for _ in rows]
    wanted = data.draw(st.lists(st.integers(0, n_fields - 1), min_size=1, unique=True))
    texts = make_texts(
        [";".join(fields) + end for fields, end in zip(rows, ends, strict=True)],
        lead='"',
        trail=";x",
    )
    numbers = np.full(n_fields, -1, np.int64)
    numbers[wanted] = np.arange(len(wanted))
    starts, stops = (np.full(len(rows) * len(wanted), -7, np.int64) for _ in range(2))
    is_quoted = np.zeros(len(starts), np.bool_)
    find_fields(
        texts.data,
        texts.offsets[:-1],
        texts.offsets[1:],
        ord(";"),
        numbers,
        starts,
        stops,
        is_quoted,
    )
    expected = [fields[f] for fields in rows for f in wanted]
    found = [texts.data[a:b].tobytes().decode() for a, b in zip(starts, stops, strict=True)]
    assert found == expected
    assert is_quoted.tolist() == [field.startswith('"') for field in expected]
