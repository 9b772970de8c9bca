"""Tasks of a Spark session read columns within others."""

from __future__ import annotations

import json

import neardup
import neardup.spark
from tests.each import each_of


@each_of(
    "keep",
    ["max:meta.score", "priority:tags[0]=z,x", "priority:tags[0]=z,x,max:meta.score,longest"],
)
def test_deduplicate__by_path(in_process, tmp_path, keep):
    words = [f"word{number}" for number in range(12)]
    rows = [
        {
            "doc": {"text": " ".join(words[number % 4 :]), "key": f"d{number}"},
            "meta": {"score": (number * 7) % 11},
            "tags": ["xyz"[number % 3]],
        }
        for number in range(40)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"text_column": "doc.text", "id_column": "doc.key", "keep": keep}
    expected = neardup.deduplicate(str(path), threshold=0.6, **options)
    found = neardup.spark.deduplicate(in_process, str(path), threshold=0.6, **options)
    assert found.removed.equals(expected.removed)
    assert len(expected.removed) > 30
