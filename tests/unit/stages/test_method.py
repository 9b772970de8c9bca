"""Exact methods are refused that need more memory than may be used."""

from __future__ import annotations

import pytest

import neardup
from tests.calls import grouped


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "^method exact .*120 MB.*16 MB"),
        ({"audit": 5}, "^audit .*120 MB.*16 MB"),
    ],
)
def test_memory__what_does_not_fit_is_refused(options, message):
    texts = [" ".join(f"w{i}-{j}" for j in range(20_000)) for i in range(100)]
    with pytest.raises(neardup.InvalidParameterError, match=message):
        neardup.deduplicate(texts, **grouped(ngram=1, memory="16MB", **options))
