"""What tables of pairs say of themselves."""

from __future__ import annotations

import json

import pyarrow.parquet as pq

import neardup
from neardup.outputs.tables import METADATA_KEY
from neardup.stages.by_pairs import read_about
from tests.calls import grouped
from tests.each import each_of

TEXTS = ["the cat sat on the mat", "the cat sat on a mat", "a dog"]


@each_of(
    ("options", "expected"),
    [
        ({"threshold": "0.5"}, ("jaccard", 0.5, None, None, "exact", 1.0)),
        ({"max_distance": 3}, ("edit", None, 3, None, "exact", 1.0)),
        ({"top": 1}, ("jaccard", None, None, 1, "exact", 1.0)),
        ({"threshold": 1, "method": "minhash"}, ("jaccard", 1.0, None, None, "minhash", 1.0)),
    ],
)
def test_about__as_the_summary(options, expected, tmp_path):
    result = neardup.find_pairs(TEXTS, **grouped(**options))
    result.write(tmp_path / "pairs.parquet")
    for schema in (result.pairs.schema, pq.read_schema(tmp_path / "pairs.parquet")):
        about = read_about(schema.metadata)
        assert about is not None
        found = (about.measure, about.threshold, about.max_distance, about.top, about.method)
        assert (*found, about.predicted_recall) == expected
        assert (about.documents, about.pairs) == ((3,), len(result))
        assert about.scheme == result.summary["scheme"]
    assert read_about(neardup.find_pairs(TEXTS, TEXTS).pairs.schema.metadata).documents == (3, 3)


def test_about__of_others():
    written = json.loads(neardup.find_pairs(TEXTS).pairs.schema.metadata[METADATA_KEY])
    assert read_about({METADATA_KEY: json.dumps(written).encode()}) is not None
    for changed in (
        {**written, "format": 2},
        {**written, "documents": 3},
        {name: value for name, value in written.items() if name != "measure"},
        5,
    ):
        assert read_about({METADATA_KEY: json.dumps(changed).encode()}) is None
    assert read_about({METADATA_KEY: b"{"}) is None
    assert read_about({}) is None
