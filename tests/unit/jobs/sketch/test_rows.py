"""Sketches put together, selected, and united."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError, SketchMismatchError
from neardup.stages.sketches import Sketches
from tests.each import each_of
from tests.unit.sketches.sketch_tables import KINDS, kinds, make, same

KEYS = [
    slice(3, 17),
    slice(None, None, -2),
    slice(30, 99),
    slice(5, 5),
    [0, 39, 2, 2],
    np.array([], np.int64),
    np.array([-1, 4]),
    7,
    np.int64(-2),
]


def renamed(sketches, ids):
    return Sketches(sketches.scheme, pa.array(ids), sketches.rows)


@kinds
def test_concat__parts_are_the_whole(kind, tmp_path):
    whole = make(kind)
    path = tmp_path / "middle.parquet"
    whole[13:31].write(path)
    assert same(Sketches.concat([whole[:13], path, whole[31:]]), whole)
    assert same(whole[:20].append(whole[20:]), whole)
    assert same(Sketches.concat([whole]), whole)


@kinds
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_getitem__as_rows_of_the_table(kind, key):
    sketches = make(kind)
    places = np.atleast_1d(np.arange(len(sketches))[key]).astype(np.int64)
    table = sketches.to_arrow().take(pa.array(places))
    # An id may not come twice in a table that is read.
    names = pa.array([str(i) for i in range(len(places))], pa.large_string())
    table = table.set_column(0, "id", names).replace_schema_metadata(table.schema.metadata)
    found = sketches[key]
    assert found.ids.equals(sketches.ids.take(pa.array(places)))
    assert same(renamed(found, names), Sketches.from_arrow(table))


@kinds
def test_getitem__by_mask(kind):
    sketches = make(kind)
    mask = np.arange(len(sketches)) % 3 == 0
    expected = Sketches.from_arrow(sketches.to_arrow().filter(pa.array(mask)))
    assert same(sketches[mask], expected)
    assert same(sketches[mask.tolist()], expected)


def test_getitem__no_places():
    assert len(make("edit", 5)[[]]) == 0


def test_getitem__is_a_sequence():
    sketches = make("minhash", 5)
    assert [one.ids.to_pylist() for one in sketches] == [
        [name] for name in sketches.ids.to_pylist()
    ]
    with pytest.raises(IndexError):
        sketches[5]


@each_of("key", ["é1", [0.5], [True], None, np.zeros((2, 2), np.int64), ["é1"]])
def test_getitem__refuses(key):
    with pytest.raises(InvalidInputError, match=r"or a mask of 5 values, got .*; select takes"):
        make("minhash", 5)[key]


@kinds
def test_select__in_the_order_of_the_ids(kind):
    sketches = make(kind)
    names = sketches.ids.to_pylist()
    random.Random(kind).shuffle(names)
    chosen = sketches.select(names[:9])
    assert chosen.ids.to_pylist() == names[:9]
    assert same(chosen, sketches[[sketches.ids.to_pylist().index(name) for name in names[:9]]])
    assert same(sketches.select(chosen.ids), chosen)
    assert len(sketches.select([])) == 0


def test_select__numbers():
    sketches = renamed(make("minhash", 3), [10, 20, 30])
    assert sketches.select([30, 10]).ids.to_pylist() == [30, 10]


def test_select__refuses():
    sketches = make("smallest", 5)
    with pytest.raises(InvalidInputError) as caught:
        sketches.select(["é1", "x", "y"])
    assert str(caught.value) == (
        "there is no sketch of 2 ids, such as 'x'; Sketches.ids has those that there are"
    )
    with pytest.raises(InvalidInputError, match=r"^id 'é1' was given twice; name each document"):
        sketches.select(["é1", "é2", "é1"])
    with pytest.raises(
        InvalidInputError, match=r"^expected a list of ids, got 'é1'; write \['é1'\]"
    ):
        sketches.select("é1")


def test_concat__refuses():
    one, other = make("minhash", 5), neardup.sketch(["a b c"], num_perm=17)
    with pytest.raises(SketchMismatchError, match="num_perm 16 and 17"):
        one.append(other)
    with pytest.raises(SketchMismatchError, match="kind 'minhash' and 'edit'"):
        one.append(make("edit", 5))
    with pytest.raises(InvalidInputError, match=r"^id 'é4' is in more than one of them; leave it"):
        one.append(one[4:])
    # As text both are 7.
    with pytest.raises(InvalidInputError, match=r"^id '7' is in more than one"):
        renamed(one[:1], [7]).append(renamed(one[:1], ["7"]))
    with pytest.raises(InvalidInputError, match=r"^expected sketches to put together, got none"):
        Sketches.concat([])


def test_concat__keeps_skipped_rows_and_types():
    one = neardup.sketch([{"id": 1, "text": "x"}, {"id": 2, "text": None}], on_error="skip")
    both = one.append(neardup.sketch([{"id": 3, "text": "y"}]))
    assert both.ids.to_pylist() == [1, 3]
    assert [row for _, row, _ in both.skipped] == [2]
    assert both.summary == {"kind": "minhash", "documents": 2, "blocks": None, "scheme": one.scheme}


UNITED = [name for name, options in KINDS.items() if options["kind"] not in ("weighted", "edit")]


def texts_by_id(seed, names):
    generator = random.Random(seed)
    return {
        name: " ".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=generator.randrange(30)))
        for name in names
    }


@each_of("kind", UNITED)
def test_merge__as_sketches_of_both_texts(kind, tmp_path):
    """Of single words the set of two texts joined is the union of their sets."""
    options = KINDS[kind] | {"ngram": 1}
    if kind == "minhash":
        # Enough for an estimate.
        options["num_perm"] = 64
    left = texts_by_id(1, ["a", "b", "c", "d", "e"]) | {"empty": "", "half": ""}
    right = texts_by_id(2, ["c", "d", "e", "f", "half"]) | {"empty": ""}

    def sketch(texts):
        rows = [{"id": name, "text": text} for name, text in texts.items()]
        return neardup.sketch(rows, **options)

    both = {name: left.get(name, "") + " " + right.get(name, "") for name in left | right}
    merged, expected = sketch(left).merge(sketch(right)), sketch(both)
    assert merged.ids.to_pylist() == list(both)
    if kind == "modulo":
        own = dict(zip(left, sketch(left).rows.moduli.tolist(), strict=True))
        others = dict(zip(right, sketch(right).rows.moduli.tolist(), strict=True))
        largest = [max(own.get(name, 1), others.get(name, 1)) for name in both]
        assert merged.rows.moduli.tolist() == largest
    else:
        assert (merged.rows.values == expected.rows.values).all()
    is_known = merged.rows.sizes >= 0
    assert (merged.rows.sizes[is_known] == expected.rows.sizes[is_known]).all()
    merged.write(tmp_path / "merged.parquet")
    assert same(Sketches.read(tmp_path / "merged.parquet"), merged)
    if kind == "minhash":
        # Of those that both have, unless one of them is empty.
        assert is_known.tolist() == [True, True, False, False, False, True, True, True]
        # A union is found though its size is not known.
        pairs = neardup.estimate(
            merged, renamed(expected, list("123456789")[: len(both)]), threshold=1
        )
        assert ("c", "3") in set(
            zip(*(pairs.pairs[name].to_pylist() for name in ("id_a", "id_b")), strict=True)
        )


@each_of("kind", UNITED)
def test_merge__with_nothing_and_with_itself(kind):
    sketches = make(kind)
    assert same(sketches.merge(sketches[:0]), sketches)
    assert same(sketches[:0].merge(sketches), sketches)
    twice = sketches.merge(sketches)
    values = twice.rows.values
    assert values.shape == sketches.rows.values.shape
    assert (values == sketches.rows.values).all()


def test_merge__refuses():
    for kind in ("weighted", "edit"):
        with pytest.raises(InvalidParameterError, match=rf"^sketches of kind {kind} do not tell"):
            make(kind).merge(make(kind))
    with pytest.raises(SketchMismatchError):
        make("minhash").merge(make("smallest"))
