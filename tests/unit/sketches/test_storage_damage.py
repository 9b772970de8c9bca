"""Files of sketches that are damaged, and files that are none."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import ReadError, SketchFormatError
from neardup.stages.sketches import Sketches
from tests.unit.sketches.sketch_tables import NOT_SKETCHES, kinds, make, same


def read_or_refused(path):
    try:
        return Sketches.read(path)
    except (SketchFormatError, ReadError):
        return None


@pytest.mark.damage
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


@pytest.mark.damage
@kinds
def test_read__truncated(kind, tmp_path):
    path = tmp_path / "a.parquet"
    make(kind).write(path)
    data = path.read_bytes()
    generator = random.Random(kind)
    for length in [0, 1, 4, 8, 12, len(data) - 1, *generator.sample(range(len(data)), 50)]:
        path.write_bytes(data[:length])
        with pytest.raises(SketchFormatError, match=r"Parquet.*damaged"):
            Sketches.read(path)


def test_read__foreign_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["one"]}), path)
    for read in (Sketches.read, neardup.estimate):
        with pytest.raises(SketchFormatError, match=NOT_SKETCHES) as caught:
            read(path)
        assert caught.value.path == str(path)
