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


def test_choose_examples__prefers_different_keepers() -> None:
    rows: list[Row] = [(str(n), "same", 0.8, False) for n in range(50)]
    rows += [("x", "other", 0.85, False), ("y", "third", 0.95, False)]
    assert choose_examples(in_blocks(removed_table(rows)))["least"] == [0, 50, 51]
    # Where there are not enough of them, the same one comes again.
    assert choose_examples(in_blocks(removed_table(rows[:5])))["least"] == [0, 4, 1]


def test_choose_examples__are_from_all_over_the_table() -> None:
    rows: list[Row] = [(str(n), f"k{n}", 0.809 - 0.008 * (n == 30), False) for n in range(100)]
    rows += [(str(n), f"k{n}", 0.9, False) for n in range(100, 200)]
    least = choose_examples(in_blocks(removed_table(rows)))["least"]
    assert least[0] == 30
    assert max(least[1:]) - min(least[1:]) >= 30
    assert max(least) < 100


def test_choose_examples__of_what_nobody_knows() -> None:
    assert choose_examples(in_blocks(removed_table([("a", "k", None, None)]))) == {}
    assert choose_examples(in_blocks(removed_table([]))) == {}
    assert choose_examples(in_blocks(removed_table([("a", "k", 1.0, None)]))) == {"least": [0]}


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(80, 100), st.booleans()), max_size=30),
    st.integers(1, 4),
)
def test_choose_examples__none_comes_twice(drawn: list[tuple[int, int, bool]], n: int) -> None:
    rows: list[Row] = [
        (str(place), f"k{keeper}", 1.0 if is_copy else value / 100, is_copy)
        for place, (keeper, value, is_copy) in enumerate(drawn)
    ]
    chosen = choose_examples(in_blocks(removed_table(rows)), n=n)
    places = [place for each in chosen.values() for place in each]
    assert len(places) == len(set(places))
    near = [place for place, row in enumerate(rows) if not row[3]]
    shown = [place for place in places if not rows[place][3]]
    assert len(shown) == min(len(near), 3 * n)
    if near:
        assert rows[chosen["least"][0]][2] == min(rows[place][2] for place in near)


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
