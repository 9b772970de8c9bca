"""Lines made at random, many of them damaged, beside what ``json`` makes of them."""

from __future__ import annotations

import pytest

from tests.fuzzed_lines import trials


@pytest.mark.parametrize("number", [600, pytest.param(6_000, marks=pytest.mark.slow)])
def test_fuzzed_lines__as_json_reads_them(number):
    counts, defects = trials(number, seed=number)
    assert not defects
    # Lines that all ended in the same way would show nothing.
    assert min(counts["taken"], counts["refused"]) > number // 5
