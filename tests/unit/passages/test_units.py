from __future__ import annotations

import pyarrow as pa

from neardup.jobs.cut.units import split_units
from tests.each import each_of


@each_of(
    ("unit", "expected"),
    [
        ("lines", [("a", "\n"), (" b ", "\r\n"), ("c", "\r"), ("d", "")]),
        ("paragraphs", [("a\n b ", "\r\n\t\n\u3000\n"), ("c\rd", "")]),
    ],
)
@each_of("kind", [pa.string(), pa.large_string()])
def test_split_units(unit, expected, kind):
    text = "\n \na\n b \r\n\t\n\u3000\nc\rd"
    texts = pa.array(["before\n", None, text, "", "é"], kind).slice(1)
    units = split_units(texts, unit)
    assert units.documents.tolist() == [1] * len(expected) + [3]
    data = text.encode()
    places = zip(units.starts, units.stops, units.ends, strict=True)
    found = [(data[start:stop], data[stop:end]) for start, stop, end in places][:-1]
    assert found == [(content.encode(), end.encode()) for content, end in expected]
    assert (units.starts[-1], units.stops[-1], units.ends[-1]) == (0, 2, 2)


def test_split_units__none():
    assert len(split_units(pa.array([], pa.string()), "lines")) == 0
    assert len(split_units(pa.array(["", " \n\n", None]), "paragraphs")) == 0
