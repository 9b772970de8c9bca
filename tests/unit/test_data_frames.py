"""Data frames: those of pandas have ids in their index, and what stays comes back as a frame."""

from __future__ import annotations

import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InvalidInputError, ReadError
from tests.each import each_of

TEXTS = [
    "far out in the uncharted backwaters of the western arm",
    "the cat sat on the mat and purred",
    "Far out, in the uncharted backwaters of the western arm.",
    "nothing that any other row has",
]

INDEXES = {
    "row numbers": pd.RangeIndex(4),
    "other numbers": pd.Index([2, 0, 1, 7]),
    "a later range": pd.RangeIndex(5, 9),
    "a named range": pd.RangeIndex(4, name="number"),
    "urls": pd.Index(["/a", "/b", "/c", "/d"], name="url"),
    "strings": pd.Index(["z", "y", "x", "0"]),
    "categories": pd.CategoricalIndex(["z", "y", "x", "0"]),
    "the name of a column": pd.Index([4, 3, 2, 1], name="text"),
}


def frame(labels, **columns):
    return pd.DataFrame({"text": TEXTS, **columns}, index=labels)


def check_rows(table, expected):
    """Check that rows are those of a frame, with its index but for the numbers of rows."""
    assert not any("__" in name for name in table.column_names)
    back = table.to_pandas()
    if isinstance(expected.index, pd.RangeIndex) and expected.index.name is None:
        expected = expected.reset_index(drop=True)
    pd.testing.assert_frame_equal(
        back, expected, check_index_type=False, check_categorical=False, check_dtype=False
    )


@each_of("index", INDEXES.values(), ids=INDEXES)
def test_deduplicate__drops_by_label(index, tmp_path):
    data = frame(index)
    result = neardup.deduplicate(data)
    gone = result.removed["id"].to_pandas()
    assert gone.tolist() == [index[2]]
    assert result.removed["kept_id"].to_pylist() == [index[0]]
    assert result.clusters["id"].to_pylist() == list(index)
    rest = data.drop(gone)
    assert rest["text"].tolist() == [TEXTS[0], TEXTS[1], TEXTS[3]]
    if index.equals(pd.RangeIndex(4)) and index.name is None:
        rest = rest.reset_index(drop=True)
    check_rows(result.kept, rest)
    result.write(tmp_path / "out")
    check_rows(pq.read_table(tmp_path / "out/kept/data.parquet"), rest)
    assert "__index" not in str(pq.read_schema(tmp_path / "out/removed/data.parquet").names)


@pytest.mark.slow
@each_of("index", INDEXES.values(), ids=INDEXES)
def test_every_call__has_labels(index, tmp_path):
    data, first, copy = frame(index), index[0], index[2]
    pairs = neardup.find_pairs(data)
    assert pairs.pairs.select(["id_a", "id_b"]).to_pylist() == [{"id_a": first, "id_b": copy}]
    assert neardup.sketch(
        data, kind="minhash", text=neardup.TextOptions(ngram=2)
    ).ids.to_pylist() == list(index)
    passages = neardup.align(data, min_tokens=5).passages
    assert passages.select(["query_id", "doc_id"]).to_pylist() == [
        {"query_id": first, "doc_id": copy}
    ]
    cut = neardup.cut(data, min_tokens=5)
    assert cut.removed.select(["id", "kept_id"]).to_pylist() == [{"id": copy, "kept_id": first}]
    assert cut.kept.to_pandas().index.tolist() == list(index)


@pytest.mark.slow
@each_of("index", INDEXES.values(), ids=INDEXES)
@each_of("kind", [neardup.DocumentIndex, neardup.PassageIndex])
def test_indexes__have_labels(kind, index, tmp_path):
    data = frame(index)
    made = kind.create(tmp_path / "index", **({"min_tokens": 5} if "Pass" in str(kind) else {}))
    made.add(data)
    found = made.search(data.iloc[1:2]).table
    assert found.select(["query_id", "doc_id"]).to_pylist() == [
        {"query_id": data.iloc[1:2].index[0], "doc_id": index[1]}
    ]


def test_columns__before_labels():
    index = pd.Index([2, 0, 1, 7])
    assert neardup.deduplicate(frame(index, id=[5, 6, 8, 9])).removed["id"].to_pylist() == [8]
    data = frame(index, key=list("abcd"))
    assert neardup.deduplicate(data, read=neardup.ReadOptions(id_column="key")).removed[
        "id"
    ].to_pylist() == ["c"]
    assert neardup.deduplicate(data, read=neardup.ReadOptions(id_column="")).removed[
        "id"
    ].to_pylist() == [2]
    data = frame(pd.Index([2, 0, 1, 7], name="id"))
    assert neardup.deduplicate(data).removed["id"].to_pylist() == [1]


def test_columns__beside_labels():
    data = frame(pd.Index([2, 0, 1, 7]), index=1, level_0=2)
    result = neardup.deduplicate(data)
    assert result.kept.column_names == ["text", "index", "level_0", "level_1"]
    check_rows(result.kept, data.drop(1))


@pytest.mark.parametrize(
    "index", [INDEXES["row numbers"], INDEXES["urls"]], ids=["numbers", "urls"]
)
def test_report__finds_texts_by_label(index):
    data = frame(index)
    assert "uncharted" not in neardup.find_pairs(data).report().html
    assert "uncharted" in neardup.find_pairs(data).report(data).html


ADVICE = r"frame\.reset_index"


@each_of(
    ("index", "facts"),
    [
        (pd.Index([3, 4, 3, 5]), "row 3: id 3 .* row 1; "),
        (pd.Index(["a", None, "b", "c"]), "row 2: .*'index'.*null; "),
        (pd.Index([0.5, 1.5, 2.5, 3.5]), "holds double "),
        (pd.date_range("2020-01-01", periods=4), "holds timestamp"),
        (pd.MultiIndex.from_product([["a", "b"], [1, 2]]), "MultiIndex"),
    ],
    ids=["twice", "null", "decimals", "times", "tuples"],
)
def test_labels__that_are_no_ids(index, facts):
    data = frame(index, key=list("abcd"))
    with pytest.raises(InvalidInputError, match=f"{facts}.*{ADVICE}"):
        neardup.deduplicate(data)
    assert neardup.deduplicate(data, read=neardup.ReadOptions(id_column="key")).removed[
        "id"
    ].to_pylist() == ["c"]
    assert neardup.deduplicate(data.reset_index(drop=True)).removed["id"].to_pylist() == [2]


@each_of("index", INDEXES.values(), ids=INDEXES)
def test_to_pandas__is_the_frame_without_what_went(index):
    columns = {"kind": pd.Categorical(list("abab")), "number": pd.array([1, None, 2, 3], "Int64")}
    data = frame(index, day=pd.date_range("2026-01-01", periods=4), **columns)
    before = data.copy()
    expected = data.iloc[[0, 1, 3]]
    if index.equals(pd.RangeIndex(4)) and index.name is None:
        expected = expected.reset_index(drop=True)
    found = neardup.deduplicate(data).to_pandas()
    pd.testing.assert_frame_equal(
        found, expected, check_index_type=False, check_freq=False, check_categorical=False
    )
    assert found["kind"].dtype == "category"
    pd.testing.assert_frame_equal(data, before)


def test_to_polars__is_the_frame_without_what_went():
    columns = {"text": TEXTS, "kind": list("abab"), "lists": [[1], [], [2, 3], [4]]}
    data = pl.DataFrame(columns, schema_overrides={"kind": pl.Categorical})
    found = neardup.deduplicate(data).to_polars()
    polars.testing.assert_frame_equal(found, data[[0, 1, 3]])
    cut = neardup.cut(data, min_tokens=5).to_polars()
    assert cut.schema == data.schema
    assert cut.drop("text").equals(data.drop("text"))


def results():
    """Yield a result of every kind."""
    yield neardup.deduplicate(TEXTS)
    yield neardup.find_pairs(TEXTS)
    yield neardup.cut(TEXTS, min_tokens=5)
    yield neardup.align(TEXTS, min_tokens=5)
    yield neardup.compare(*TEXTS[:2])
    sketches = neardup.sketch(TEXTS, kind="smallest")
    yield sketches
    yield neardup.estimate(sketches)
    yield neardup.cluster_sketches(sketches)


@pytest.mark.parametrize("where", [None, "score > 5"])
def test_frames__without_rows_have_their_columns(where, tmp_path):
    names = pd.Index(["z", "y"], name="label")
    frame = pd.DataFrame({"text": TEXTS[:2], "score": [1.0, 2.0]}, index=names)
    given = frame.iloc[:0] if where is None else frame
    found = neardup.deduplicate(given, read=neardup.ReadOptions(where=where)).to_pandas()
    pd.testing.assert_frame_equal(found, frame.iloc[:0], check_index_type=False)
    columns = pl.from_pandas(given)
    assert (
        neardup.deduplicate(columns, read=neardup.ReadOptions(where=where))
        .to_polars()
        .equals(columns.clear())
    )
    (tmp_path / "a.csv").write_text("text,score\n" + ("x,1\n" if where else ""))
    assert neardup.deduplicate(
        tmp_path / "a.csv", read=neardup.ReadOptions(where=where)
    ).kept.column_names == [
        "text",
        "score",
    ]


def test_results__are_tables_of_all_libraries():
    for result in results():
        table = result.to_arrow()
        assert isinstance(table, pa.Table)
        assert table.equals(pa.table(result))
        assert list(result.to_pandas().columns) == table.column_names
        assert result.to_polars().to_arrow().num_rows == table.num_rows
        assert result.to_polars().columns == table.column_names


def test_deduplicate__of_a_text():
    with pytest.raises(ReadError, match=r"^a text: no such file"):
        neardup.deduplicate("a text")


def check_refused(call):
    with pytest.raises(InvalidInputError, match="no order"):
        call()


@each_of("data", [set(TEXTS), frozenset(TEXTS)], ids=["set", "frozenset"])
def test_sets__are_refused(data, tmp_path):
    check_refused(lambda: neardup.deduplicate(data))
    check_refused(lambda: neardup.deduplicate(TEXTS, against=data))
    check_refused(lambda: neardup.find_pairs(TEXTS, data))
    check_refused(lambda: neardup.align(data))
    check_refused(lambda: neardup.extract("a", data))
    index = neardup.DocumentIndex.create(tmp_path / "index")
    check_refused(lambda: index.add(data))
    check_refused(lambda: index.search(data))


def test_views_of_mappings__have_an_order():
    texts = dict(enumerate(TEXTS))
    assert neardup.deduplicate(texts.values()).removed["id"].to_pylist() == ["2"]
    inverse = {text: place for place, text in texts.items()}
    assert neardup.deduplicate(inverse.keys()).removed["id"].to_pylist() == ["2"]


@each_of("frame", [pd.DataFrame({"text": TEXTS}), pl.DataFrame({"text": TEXTS})], ids=["pd", "pl"])
def test_extract__refuses_frames(frame):
    with pytest.raises(InvalidInputError, match=r"must be a list.* DataFrame$"):
        neardup.extract("a text", frame)


def test_extract__keys_are_labels_of_a_series():
    series = pd.Series(["Anna", "Hannah", "Otto"], index=["p", "q", "r"])
    found = neardup.extract("Anna", series, measure="edit", limit=2)
    expected = neardup.extract("Anna", dict(series), measure="edit", limit=2)
    assert found == expected
    assert [each.key for each in found] == ["p", "q"]
