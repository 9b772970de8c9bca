"""Which removed documents are shown."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from neardup.outputs.table_rows import TableRows
from neardup.reports.dedup.examples import choose_examples
from tests.oracles.removed_examples import chosen_examples
from tests.removed_tables import Row, in_blocks, removed_table


def test_choose_examples__has_each_kind() -> None:
    values = [0.8, 0.81, 0.85, 0.9, 0.91, 0.97, 0.99, 0.995]
    rows: list[Row] = [(str(n), f"k{n}", value, False) for n, value in enumerate(values)]
    rows.insert(0, ("copy", "k", 1.0, True))
    assert choose_examples(in_blocks(removed_table(rows)), n=2) == {
        "least": [1, 2],
        "middle": [4, 5],
        "most": [8, 7],
        "copies": [0],
    }


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(800, 1000) | st.none(), st.booleans()), max_size=60
    ),
    st.integers(1, 4),
    st.integers(1, 70),
)
@example([(n % 9, 800 + n % 14, False) for n in range(1_500)], 3, 400)
def test_choose_examples__oracle(
    drawn: list[tuple[int, int | None, bool]], n: int, block_rows: int
) -> None:
    rows: list[Row] = [
        (str(place), f"k{keeper}", None if value is None else value / 1000, is_copy)
        for place, (keeper, value, is_copy) in enumerate(drawn)
    ]
    _, keepers, values, copies = zip(*rows, strict=True) if rows else ((), (), (), ())
    table = TableRows.of_table(removed_table(rows), block_rows=block_rows)
    assert choose_examples(table, n=n) == chosen_examples(keepers, values, copies, n)
