"""Exact methods are refused that need more memory than may be used."""

from __future__ import annotations

import pytest

import neardup
from tests.calls import grouped


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "exact"},
            r"^method exact .* about 120 MB for that, of 16 MB that may be used; choose",
        ),
        ({"audit": 5}, r"^audit .* about 120 MB for that, of 16 MB that may be used; leave it out"),
    ],
)
def test_memory__what_does_not_fit_is_refused(options, message):
    texts = [" ".join(f"w{i}-{j}" for j in range(20_000)) for i in range(100)]
    with pytest.raises(neardup.InvalidParameterError, match=message):
        neardup.deduplicate(texts, **grouped(ngram=1, memory="16MB", **options))
