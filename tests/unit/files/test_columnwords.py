from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InvalidInputError
from neardup.files.formats import file_source
from neardup.files.memory import arrow_source
from neardup.files.problems import no_column
from neardup.files.rows import ColumnNames
from tests.each import each_of

COLUMNS = {
    "no": [1, 2],
    "lang": ["en", "fr"],
    "question": ["What did the raven say?", None],
    "answer": ["Nevermore, quoth the raven, nevermore.", "Rien."],
}
MESSAGE = (
    "no column 'text'; columns are 'no', 'lang', 'question', 'answer'; name another with "
    "text_column, such as 'question' or 'answer'"
)


def source_of(kind, tmp_path):
    table = pa.table(COLUMNS)
    if kind == "memory":
        return arrow_source(table)
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "csv":
        path.write_text("no,lang,question,answer\n1,en,What did the raven say?,Nevermore.\n")
    else:
        path.write_text(
            '{"no": 1, "lang": "en", "question": "What did the raven say?", "answer": "Nevermore."}'
        )
    return file_source(str(path), path.name)


@each_of("kind", ["memory", "parquet", "csv", "jsonl", "json"])
def test_no_column__names_the_option_and_likely_columns(kind, tmp_path):
    source = source_of(kind, tmp_path)
    [block] = source.blocks()
    for columns, message in (
        (ColumnNames(), MESSAGE),
        (ColumnNames(("question", "text")), MESSAGE.replace("'question' or ", "")),
        (
            ColumnNames("question, answer"),
            "no column 'question, answer'; columns are 'no', 'lang', 'question', 'answer'; name "
            "several with text_column",
        ),
        (
            ColumnNames(text_option="other_column"),
            MESSAGE.replace("text_column", "other_column"),
        ),
        (
            ColumnNames("answer", id="key"),
            f"{MESSAGE.partition(';')[0].replace('text', 'key')}; columns are 'no', 'lang', "
            "'question', 'answer'; name another with id_column, or leave it out",
        ),
        (
            ColumnNames("answer", order="date"),
            "no column 'date'; columns are 'no', 'lang', 'question', 'answer'; name another with "
            "keep",
        ),
    ):
        with pytest.raises(InvalidInputError) as caught:
            block.parse(columns)
        assert str(caught.value).endswith(message)
    assert source.column_names() == list(COLUMNS)


def test_no_column__of_very_many():
    names = [f"c{i}" for i in range(25)]
    message = no_column("text", ColumnNames(), names, dict)
    assert message.startswith("no column 'text'; columns are 'c0', 'c1', ")
    assert "'c19' and 5 more; name another" in message
    assert message.endswith("with text_column (--text-column)")
    assert no_column("text", ColumnNames(), [], dict).endswith("there are no columns")


def test_no_column__in_other_than_utf8(tmp_path):
    """What cannot be read is no reason to fail in another way."""
    bad = pa.array([b"\xff"]).view(pa.string())
    table = pa.table({"bad": bad, "good": pa.array(["text"]).dictionary_encode(), "n": [[5]]})
    [block] = arrow_source(table).blocks()
    with pytest.raises(InvalidInputError, match=r"with text_column, such as 'good'$"):
        block.parse(ColumnNames(), select=np.array([True]))
    (tmp_path / "a.csv").write_bytes(b"body\n\xff\n")
    [block] = file_source(str(tmp_path / "a.csv"), "a.csv").blocks()
    with pytest.raises(InvalidInputError, match=r"with text_column, such as 'body'$"):
        block.parse(ColumnNames())


@each_of(
    ("name", "content", "expected"),
    [
        ("a.jsonl", b"\n", None),
        ("a.jsonl", b'{"n": \n[1]\n{"a": 1, "b": 2}\n{"c": 3}\n', ["a", "b"]),
        ("a.jsonl", b"nothing\n", None),
        ("a.json", b" []", None),
        ("a.json", b'[{"a": 1},\n{"b": 2}]', ["a"]),
        ("a.jsonl", b'{"text": "' + b"x" * 100_000 + b'", "id": 1}\n', ["text", "id"]),
        ("a.csv", b"\xef\xbb\xbf\n\nid,text\n", ["id", "text"]),
        ("a.csv", b"\n", None),
        ("a.txt", b"a", ["text"]),
    ],
)
def test_column_names(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    source = file_source(str(tmp_path / name), name)
    assert source.column_names() == expected
    # The look at the first rows leaves no trace.
    assert len(list(source.blocks())) <= 1
