from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.documents import hash_ids
from neardup.kernels.common.hashing import hash_bytes
from neardup.tables import Texts


@pytest.mark.slow
@given(ids=st.lists(st.text(max_size=20) | st.text("ab", max_size=40)), skipped=st.integers(0, 3))
def test_hash_strings__as_hash_bytes(ids, skipped):
    strings = pa.array(["é" * 5] * skipped + ids, pa.large_string()).slice(skipped)
    assert Texts.from_arrow(strings).offsets[0] == 10 * skipped
    assert hash_ids(strings).tolist() == [hash_bytes(i.encode()) for i in ids]
