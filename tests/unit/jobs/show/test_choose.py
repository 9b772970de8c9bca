"""Which rows are shown: the least, the most similar, and those in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.jobs.show import choose_rows
from neardup.options.documents import ShowOptions

NAN = float("nan")


def chosen(values, n, which, copies=()):
    are_copies = np.isin(np.arange(len(values)), list(copies))
    return choose_rows(np.array(values, float), n, which, are_copies).tolist()


def test_choose__by_hand():
    values = [0.9, 0.8, 1.0, 0.85, 0.8, 1.0, NAN]
    assert chosen(values, 3, "least", [2]) == [1, 4, 3]
    assert chosen(values, 3, "most", [2]) == [5, 0, 3]
    assert chosen(values, 3, "spread", [2]) == [1, 0, 5]
    assert chosen(values, 6, "spread", [2]) == [1, 4, 3, 0, 5, 2]
    assert chosen(values, 9, "least", [2]) == [1, 4, 3, 0, 5, 2, 6]
    assert chosen([], 3, "spread") == []


def test_choose__spread_is_by_similarity_not_by_number():
    """Where most pairs are alike, the few others are shown all the same."""
    values = [0.99] * 1000 + [0.8, 0.9]
    assert chosen(values, 3, "spread") == [1000, 1001, 0]


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.5, 0.7, 1.0, NAN]), st.booleans())),
    st.integers(1, 8),
    st.sampled_from(["spread", "least", "most"]),
)
def test_choose__laws(rows, n, which):
    values = [value for value, _ in rows]
    copies = [place for place, (value, copy) in enumerate(rows) if copy and value == value]
    found = chosen(values, n, which, copies)
    assert len(found) == len(set(found)) == min(n, len(rows))
    differing = [p for p, v in enumerate(values) if v == v and p not in copies]
    shown = [place for place in found if place in differing]
    # Copies, then what is not known, only where nothing else is left.
    assert (
        found[len(shown) :]
        == [
            *copies,
            *(place for place, value in enumerate(values) if value != value),
        ][: n - len(shown)]
    )
    assert len(shown) == min(n, len(differing))
    ordered = [values[place] for place in shown]
    assert ordered == sorted(ordered, reverse=which == "most")
    if which == "least":
        assert shown == sorted(differing, key=lambda p: (values[p], p))[:n]
    if which == "most":
        assert shown == sorted(differing, key=lambda p: (-values[p], p))[:n]
    if which == "spread" and shown:
        every = [values[place] for place in differing]
        assert ordered[0] == min(every)
        assert n == 1 or ordered[-1] == max(every)


def test_options__least_and_most():
    with pytest.raises(InvalidParameterError, match="least and most ask for different examples"):
        _ = ShowOptions(least=True, most=True).which
