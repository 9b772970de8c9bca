"""Sketches as tables and files: what is written is read, and nothing else is."""

from __future__ import annotations

import contextlib
import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import (
    InvalidParameterError,
    OutputExistsError,
    ReadError,
    SketchFormatError,
)
from neardup.jobs.sketch.sketches import Sketches, read_info
from neardup.sketches.storage import METADATA_KEY, checksum_of

KINDS = {
    "minhash": {"kind": "minhash", "num_perm": 16},
    "weighted": {"kind": "weighted", "num_perm": 16, "tf": "log", "idf": "smooth"},
    "smallest": {"kind": "smallest", "size": 8, "ngram": 1},
    "rabin": {"kind": "smallest", "size": 8, "ngram": 1, "fingerprint": "rabin"},
    "modulo": {"kind": "modulo", "size": 4, "ngram": 1},
    "modulus": {"kind": "modulo", "modulus": 7, "ngram": 1},
    "edit": {"kind": "edit", "compression": 4, "neighbourhood": 3},
    "sum": {"kind": "edit", "compression": 4, "hash": "sum", "residue": 3, "letters": 9},
    "letters": {"kind": "edit", "compression": 4, "neighbourhood": 3, "letters": 2},
}
kinds = pytest.mark.parametrize("kind", KINDS)
COLUMNS = r"^the columns are not those of sketches of this kind; make the sketches again$"
NOT_SKETCHES = "not a file of sketches; make one with neardup sketch"


def make(kind, n=40):
    generator = random.Random(7)
    texts = [
        " ".join(generator.choices("abcdefghijklmnopqrstuvwxyzäß漢", k=generator.randrange(60)))
        for _ in range(n)
    ]
    rows = [{"id": f"é{i}", "text": text} for i, text in enumerate(["", "a", *texts][:n])]
    return neardup.sketch(rows, id_column="id", **KINDS[kind])


def same(one, other):
    """Every number is the same, and of the same type."""
    assert one.scheme == other.scheme
    assert one.ids.equals(other.ids)
    assert type(one.rows) is type(other.rows)
    for name, values in vars(one.rows).items():
        others = getattr(other.rows, name)
        if values is None:
            assert others is None
        else:
            assert (values.dtype, values.shape) == (others.dtype, others.shape)
            assert (values == others).all()
    return True


def with_column(table, name, values):
    place = table.schema.get_field_index(name)
    changed = table.set_column(place, name, values)
    return changed.replace_schema_metadata(table.schema.metadata)


def with_scheme(table, *, checked=True, **fields):
    about = json.loads(table.schema.metadata[METADATA_KEY])
    scheme = {**about["scheme"], **fields}
    about["scheme"] = {name: value for name, value in scheme.items() if value is not ...}
    if checked:
        about["scheme_checksum"] = checksum_of(about["scheme"])
    return with_about(table, about)


def with_about(table, about):
    data = about if isinstance(about, bytes) else json.dumps(about).encode()
    return table.replace_schema_metadata({METADATA_KEY: data})


# What is written is read.


@kinds
@pytest.mark.parametrize("n", [0, 1, 40])
def test_sketches__round_trip(kind, n, tmp_path):
    sketches = make(kind, n)
    assert len(sketches) == n
    assert same(Sketches.from_arrow(sketches.to_arrow()), sketches)
    sketches.write(tmp_path / "a.parquet")
    assert same(Sketches.read(tmp_path / "a.parquet"), sketches)
    assert same(Sketches.read(str(tmp_path / "a.parquet")), sketches)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
    info = read_info(tmp_path / "a.parquet")
    assert info == {
        "path": str(tmp_path / "a.parquet"),
        "documents": n,
        "bytes": (tmp_path / "a.parquet").stat().st_size,
        "format": 1,
        "neardup": neardup.__version__,
        "scheme": sketches.scheme,
    }


@kinds
def test_sketches__same_bytes_every_time(kind, tmp_path):
    for name in ("a", "b"):
        make(kind).write(tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@kinds
def test_sketches__have_no_text(kind, tmp_path):
    secret = "Rumpelstilzchen"
    sketches = neardup.sketch([f"{secret} " * 30], **KINDS[kind])
    sketches.write(tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes().lower()
    assert secret.lower().encode() not in data
    assert secret.encode() not in str(sketches.to_arrow().to_pylist()).encode()


@kinds
def test_from_arrow__sliced_and_chunked(kind):
    sketches = make(kind)
    table = sketches.to_arrow()
    chunks = pa.concat_tables([table.slice(0, 3), table.slice(3, 0), table.slice(3)])
    assert chunks["id"].num_chunks > 1
    assert same(Sketches.from_arrow(chunks), sketches)
    part = Sketches.from_arrow(table.slice(5, 9))
    assert part.to_arrow() == table.slice(5, 9)
    assert same(Sketches.from_arrow(pa.concat_tables([table.slice(5, 9)])), part)
    turned = table.take(pa.array(range(len(table) - 1, -1, -1)))
    assert Sketches.from_arrow(turned).to_arrow() == turned
    assert len(Sketches.from_arrow(table.slice(0, 0))) == 0
    no_chunks = pa.table([pa.chunked_array([], f.type) for f in table.schema], schema=table.schema)
    assert len(Sketches.from_arrow(no_chunks)) == 0


@kinds
@pytest.mark.parametrize("list_type", [pa.list_, pa.large_list])
def test_from_arrow__lists_and_numbers_of_any_width(kind, list_type):
    sketches = make(kind)
    table = with_column(sketches.to_arrow(), "id", sketches.ids.cast(pa.string()))
    lists = table["sketch"]
    if pa.types.is_large_binary(lists.type):
        table = with_column(table, "sketch", lists.cast(pa.binary()))
    else:
        table = with_column(table, "sketch", lists.cast(list_type(lists.type.value_type)))
    for name in set(table.column_names) - {"id", "sketch", "weight"}:
        table = with_column(table, name, table[name].cast(pa.uint32()))
    assert same(Sketches.from_arrow(table), sketches)
    part = Sketches.from_arrow(table.slice(3, 7))
    assert part.to_arrow() == sketches.to_arrow().slice(3, 7)


def test_from_arrow__more_columns_do_no_harm():
    sketches = make("minhash")
    table = sketches.to_arrow().append_column("label", pa.array(["x"] * 40))
    assert same(Sketches.from_arrow(table), sketches)


# What is damaged is noticed.


def read_or_refused(path):
    try:
        return Sketches.read(path)
    except (SketchFormatError, ReadError):
        return None


@kinds
def test_read__flipped_bits(kind, tmp_path):
    """One bit anywhere, half of them in the metadata, which pages' checksums do not cover."""
    sketches, path = make(kind), tmp_path / "a.parquet"
    sketches.write(path)
    data = path.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    generator = random.Random(kind)
    n_noticed = 0
    for trial in range(400):
        place = generator.randrange(len(data) if trial % 2 else footer)
        changed = bytearray(data)
        changed[-1 - place] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        found = read_or_refused(path)
        n_noticed += found is None
        assert found is None or same(found, sketches)
        with contextlib.suppress(SketchFormatError):
            assert read_info(path)["scheme"] == sketches.scheme
    assert n_noticed > 100


@kinds
def test_read__every_bit_of_the_numbers_of_rows(kind, tmp_path):
    """A file has them several times; one alone that is less would leave documents out."""
    sketches, path = make(kind), tmp_path / "a.parquet"
    sketches.write(path)
    data = path.read_bytes()
    number = 2 * len(sketches)
    places = [
        place
        for place in range(len(data) - int.from_bytes(data[-8:-4], "little"), len(data))
        if data[place] == number
    ]
    assert len(places) >= 2
    for place in places:
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            found = read_or_refused(path)
            assert found is None or same(found, sketches)


@kinds
def test_read__truncated(kind, tmp_path):
    path = tmp_path / "a.parquet"
    make(kind).write(path)
    data = path.read_bytes()
    generator = random.Random(kind)
    for length in [0, 1, 4, 8, 12, len(data) - 1, *generator.sample(range(len(data)), 50)]:
        path.write_bytes(data[:length])
        with pytest.raises(SketchFormatError, match="not a Parquet file, or a damaged one"):
            Sketches.read(path)


@kinds
def test_read__overwritten_stretches(kind, tmp_path):
    sketches, path = make(kind), tmp_path / "a.parquet"
    sketches.write(path)
    data = path.read_bytes()
    generator = random.Random(kind)
    for _ in range(100):
        start = generator.randrange(len(data))
        junk = generator.randbytes(generator.randint(1, 30))
        path.write_bytes((data[:start] + junk + data[start + len(junk) :])[: len(data)])
        found = read_or_refused(path)
        assert found is None or same(found, sketches)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (b"", NOT_SKETCHES),
        (b"{", NOT_SKETCHES),
        (b"\xff", NOT_SKETCHES),
        (b"[" * 200_000, NOT_SKETCHES),
        ([], NOT_SKETCHES),
        (None, NOT_SKETCHES),
        ({"format": 1}, NOT_SKETCHES),
        ({"scheme": {}}, NOT_SKETCHES),
        (
            {"format": 2, "scheme": {}},
            "sketches of format 2, this neardup reads 1; use a newer neardup, or make the sketches "
            "again",
        ),
        ({"format": 1, "scheme": []}, "sketches of format 1, this neardup reads 1; use a newer"),
        ({"format": 1, "scheme": {}}, "unknown kind of sketches None; it may come from a newer"),
        ({"format": 1, "scheme": {"kind": "odd"}}, "unknown kind of sketches 'odd'; it may come"),
        ({"format": 1, "scheme": {"kind": ["edit"]}}, "unknown kind of sketches"),
    ],
)
def test_from_arrow__foreign_metadata(about, message):
    table = with_about(make("minhash").to_arrow(), about)
    with pytest.raises(SketchFormatError) as caught:
        Sketches.from_arrow(table)
    assert str(caught.value).startswith(message)


def test_from_arrow__no_metadata():
    for metadata in (None, {}, {b"other": b"{}"}):
        table = make("minhash").to_arrow().replace_schema_metadata(metadata)
        with pytest.raises(SketchFormatError, match=rf"^{NOT_SKETCHES}$"):
            Sketches.from_arrow(table)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("minhash", {"num_perm": ...}, "the scheme of kind minhash is not complete"),
        ("minhash", {"seed": ...}, "the scheme of kind minhash is not complete"),
        ("weighted", {"num_perm": None}, "the scheme of kind weighted is not complete"),
        ("modulo", {"modulus": ...}, "the scheme of kind modulo is not complete"),
        ("modulo", {"modulus": 3}, "the scheme of kind modulo is not complete"),
        ("edit", {"hash": ...}, "the scheme of kind edit is not complete"),
        ("minhash", {"num_perm": 0}, "the scheme is not valid: num_perm must lie between"),
        ("minhash", {"num_perm": "16"}, "the scheme is not valid: "),
        ("smallest", {"size": 2**20 + 1}, "the scheme is not valid: size must lie between"),
        ("smallest", {"fingerprint": 5}, "the scheme is not valid: fingerprint must be"),
        ("modulus", {"modulus": 2**32 + 1}, "the scheme is not valid: modulus must lie between"),
        ("edit", {"letters": 1}, "the scheme is not valid: letters must lie between"),
        *(
            ("minhash", {"num_perm": value}, "the scheme of kind minhash has fields that are")
            for value in (16.0, True, [16], {})
        ),
    ],
)
def test_from_arrow__schemes_that_are_none(kind, fields, message):
    table = with_scheme(make(kind).to_arrow(), **fields)
    with pytest.raises(SketchFormatError) as caught:
        Sketches.from_arrow(table)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("fields", [{"seed": 43}, {"ngram": 4}, {"tokenizer": ...}, {"more": 1}])
def test_from_arrow__a_scheme_that_was_changed(fields):
    table = with_scheme(make("minhash").to_arrow(), checked=False, **fields)
    with pytest.raises(SketchFormatError, match=r"^the scheme is damaged; make the sketches again"):
        Sketches.from_arrow(table)


def lists(values, kind=pa.uint64()):  # noqa: B008 - types do not change
    return pa.array(values, pa.large_list(kind))


SIX = [[1, 2, 3, 4, 5, 6, 7, 8]] * 2


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        *((kind, {"id": pa.array(["a", None])}) for kind in KINDS),
        *((kind, {"sketch": None}) for kind in KINDS),
        *((kind, {"sketch": pa.array(["x", "y"])}) for kind in KINDS if kind != "letters"),
        *((kind, {"sketch": pa.nulls(2)}) for kind in KINDS),
        *((kind, {"length": pa.array([-1, 9])}) for kind in ("edit", "letters")),
        *((kind, {"length": pa.array([None, 9])}) for kind in ("edit", "letters")),
        *((kind, {"length": pa.array([9.5, 9])}) for kind in ("edit", "letters")),
        *((kind, {"length": None}) for kind in ("edit", "letters")),
        *((kind, {"size": pa.array([-1, 9])}) for kind in ("minhash", "weighted", "modulus")),
        ("minhash", {"size": pa.array([None, 9])}),
        ("minhash", {"size": pa.array([2**63, 9], pa.uint64())}),
        ("minhash", {"sketch": lists([[1] * 16, [1] * 15], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 15, [1] * 17], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 16, None], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 16, [None] * 16], pa.uint32())}),
        ("minhash", {"sketch": lists([[1] * 16, [2**32] * 16])}),
        ("minhash", {"sketch": lists([[1] * 16, [-1] * 16], pa.int64())}),
        ("weighted", {"weight": pa.array([-1, 9])}),
        ("weighted", {"weight": None}),
        ("smallest", {"sketch": lists([[2, 1], [3]]), "size": pa.array([2, 1])}),
        ("smallest", {"sketch": lists([[1, 1], [3]]), "size": pa.array([2, 1])}),
        ("smallest", {"sketch": lists([[1, 2], [3]]), "size": pa.array([3, 1])}),
        ("smallest", {"sketch": lists([[1, 2], [3]]), "size": pa.array([1, 1])}),
        ("smallest", {"sketch": lists([[1, 2], [3]]), "size": pa.array([None, 1])}),
        ("smallest", {"sketch": lists([[*range(9)], [3]]), "size": pa.array([None, 1])}),
        ("smallest", {"sketch": lists([[*range(9)], [3]]), "size": pa.array([9, 1])}),
        ("smallest", {"sketch": lists([[1, None], [3]]), "size": pa.array([2, 1])}),
        ("smallest", {"sketch": lists(SIX), "size": pa.array([-2, 8])}),
        ("modulo", {"modulus": pa.array([3, 1])}),
        ("modulo", {"modulus": pa.array([0, 1])}),
        ("modulo", {"modulus": pa.array([-1, 1])}),
        ("modulo", {"modulus": pa.array([None, 1])}),
        ("modulo", {"modulus": None}),
        ("modulo", {"sketch": lists([[2], [3]]), "modulus": pa.array([2, 2])}),
        (
            "modulo",
            {
                "sketch": lists([[1], [3]]),
                "modulus": pa.array([1, 1]),
                "size": pa.array([1, 5]),
            },
        ),
        ("modulo", {"sketch": lists([[1], [3]]), "modulus": pa.array([1, 1]), "size": pa.nulls(2)}),
        ("modulus", {"modulus": pa.array([7, 14]), "sketch": lists([[7], [14]])}),
        ("modulus", {"sketch": lists([[14, 7], []])}),
        ("modulus", {"sketch": lists([[7, 15], []])}),
        ("modulus", {"sketch": lists([[7, 14, 21], []]), "size": pa.array([2, 0])}),
        ("sum", {"sketch": lists([[8], [9]], pa.uint32()), "length": pa.array([9, 9])}),
        ("edit", {"sketch": lists([[8, 8], [9]], pa.uint32()), "length": pa.array([1, 9])}),
        ("letters", {"symbols": pa.array([9, 9]), "sketch": pa.array([b"12", b"3"])}),
        ("letters", {"symbols": pa.array([9, 7]), "sketch": pa.array([b"1", b"23"])}),
        ("letters", {"symbols": pa.array([9, 7]), "sketch": pa.array([b"12", None])}),
        ("letters", {"symbols": pa.array([9, -1]), "sketch": pa.array([b"12", b""])}),
        ("letters", {"symbols": None}),
    ],
)
def test_from_arrow__columns_that_are_none(kind, columns):
    table = make(kind).to_arrow().slice(30, 2)
    for name, values in columns.items():
        table = table.drop_columns([name]) if values is None else with_column(table, name, values)
    with pytest.raises(SketchFormatError, match=COLUMNS):
        Sketches.from_arrow(table)


def test_from_arrow__columns_of_another_kind():
    for kind, other in (("minhash", "smallest"), ("modulo", "edit"), ("edit", "letters")):
        table = make(kind).to_arrow()
        foreign = make(other).to_arrow()
        with pytest.raises(SketchFormatError, match=COLUMNS):
            Sketches.from_arrow(foreign.replace_schema_metadata(table.schema.metadata))


def test_from_arrow__sums_that_wrap_around():
    """Sixteen numbers of symbols that take 2^64 bytes together, which is 0 in 64 bits."""
    table = make("letters").to_arrow().slice(0, 16)
    huge = pa.array([2**63 - 8] * 16)
    for name, values in (
        ("symbols", huge),
        ("length", huge),
        ("sketch", pa.array([b""] * 16, pa.large_binary())),
    ):
        table = with_column(table, name, values)
    with pytest.raises(SketchFormatError, match=COLUMNS):
        Sketches.from_arrow(table)


def test_from_arrow__offsets_that_are_none():
    table = make("smallest").to_arrow().slice(0, 2)
    for offsets in ([0, 500, 3], [0, 3, 2], [0, -1, 3]):
        buffers = [None, pa.py_buffer(np.array(offsets, np.int64))]
        values = pa.array([1, 2, 3], pa.uint64())
        bad = pa.Array.from_buffers(pa.large_list(pa.uint64()), 2, buffers, children=[values])
        with pytest.raises(SketchFormatError, match=COLUMNS):
            Sketches.from_arrow(with_column(table, "sketch", bad))


def test_from_arrow__list_views():
    """Their offsets may be in any order."""
    table = make("smallest").to_arrow()
    views = pa.array(table["sketch"].to_pylist(), pa.large_list_view(pa.uint64()))
    with pytest.raises(SketchFormatError, match=COLUMNS):
        Sketches.from_arrow(with_column(table, "sketch", views))


def test_from_arrow__ids_twice():
    table = make("minhash").to_arrow()
    with pytest.raises(SketchFormatError, match=r"^an id comes twice; ids must differ, make"):
        Sketches.from_arrow(pa.concat_tables([table, table.slice(3, 1)]))


def test_from_arrow__all_that_a_sketch_may_be():
    """Full and not, whole and not, of an unknown size."""
    table = make("smallest").to_arrow().slice(0, 3)
    for name, values in (
        ("sketch", lists([[], [1, 2**64 - 1], [*range(8)]])),
        ("size", pa.array([0, 2, None])),
    ):
        table = with_column(table, name, values)
    assert Sketches.from_arrow(table).rows.sizes.tolist() == [0, 2, -1]
    table = with_column(table, "size", pa.array([0, 2, 8]))
    assert Sketches.from_arrow(table).rows.sizes.tolist() == [0, 2, 8]
    table = make("modulo").to_arrow().slice(0, 3)
    for name, values in (
        ("sketch", lists([[], [4, 8], [2**63]])),
        ("modulus", pa.array([1, 4, 2**62])),
        ("size", pa.array([0, 2, None])),
    ):
        table = with_column(table, name, values)
    assert Sketches.from_arrow(table).rows.moduli.tolist() == [1, 4, 2**62]


# Files that are something else.


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,text\n1,one\n", b"PAR1" * 9, b"{}"])
def test_read__no_parquet(content, tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    for read in (Sketches.read, read_info, neardup.estimate):
        with pytest.raises(SketchFormatError) as caught:
            read(path)
        message = f"{path}: not a Parquet file, or a damaged one; make it with neardup sketch"
        assert (str(caught.value), caught.value.path) == (message, str(path))


def test_read__foreign_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["one"]}), path)
    for read in (Sketches.read, read_info, neardup.estimate):
        with pytest.raises(SketchFormatError) as caught:
            read(path)
        assert (str(caught.value), caught.value.path) == (f"{path}: {NOT_SKETCHES}", str(path))


def test_read__newer_format(tmp_path):
    path = tmp_path / "a.parquet"
    about = {"format": 2, "scheme": {"kind": "minhash"}}
    pq.write_table(with_about(make("minhash").to_arrow(), about), path)
    for read in (Sketches.read, read_info):
        with pytest.raises(SketchFormatError, match=r"a\.parquet: sketches of format 2, this"):
            read(path)


@pytest.mark.parametrize(
    ("name", "says"), [("none.parquet", "No such file or directory"), ("folder", "Is a directory")]
)
def test_read__nothing_there(name, says, tmp_path):
    (tmp_path / "folder").mkdir()
    for read in (Sketches.read, read_info, neardup.estimate):
        with pytest.raises(ReadError) as caught:
            read(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: cannot be read: {says}"


def test_write__refuses(tmp_path):
    sketches = make("minhash")
    with pytest.raises(InvalidParameterError, match=r"must end in \.parquet, got '.*a\.csv'$"):
        sketches.write(tmp_path / "a.csv")
    sketches.write(tmp_path / "a.parquet")
    with pytest.raises(OutputExistsError):
        sketches.write(tmp_path / "a.parquet")
    make("edit").write(tmp_path / "a.parquet", overwrite=True)
    assert Sketches.read(tmp_path / "a.parquet").kind == "edit"
    assert len(list(tmp_path.iterdir())) == 1


def test_sketches__repr():
    assert repr(make("minhash")) == "Sketches(minhash: 40 documents)"
    assert repr(neardup.estimate(make("edit", 3))) == "EstimateResult(edit: 3 pairs)"
