"""With ``no_empty`` a deduplication is one of the documents that have tokens."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import neardup

# Few words, so that copies and similar texts are frequent; some rows have none.
texts = st.one_of(
    st.sampled_from(["", " ", "...", "\n—\n"]),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(" ".join),
)


def tables_of(result):
    """Return what was decided, without numbers of rows, which stay, and of clusters."""
    clusters = result.clusters.drop_columns(["row", "cluster_id"])
    removed = result.removed.drop_columns(["row", "kept_row"])
    return [table.to_pylist() for table in (result.kept, removed, clusters)]


@given(
    st.lists(texts, max_size=12),
    st.lists(texts, max_size=4),
    st.sampled_from([{}, {"measure": "weighted-jaccard", "idf": "unary"}]),
    st.booleans(),
)
def test_no_empty__as_if_not_there(documents, others, options, exact):
    options = {"threshold": 0.5, "ngram": 1} | options
    options |= {"method": "exact"} if exact else {"keep": "longest"}
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(documents)]
    has_tokens = [any(c.isalnum() for c in row["text"]) for row in rows]
    filled = [row for row, has in zip(rows, has_tokens, strict=True) if has]
    schema = pa.schema({"id": pa.string(), "text": pa.string()})
    others = others or None
    expected = neardup.deduplicate(pa.Table.from_pylist(filled, schema), against=others, **options)
    found = neardup.deduplicate(
        pa.Table.from_pylist(rows, schema), against=others, no_empty=True, **options
    )
    assert tables_of(found) == tables_of(expected)
    for name in ("documents_in", "documents_removed", "empty_documents", "against_documents"):
        assert found.summary[name] == expected.summary[name]
    assert found.summary["empty_left_out"] == len(rows) - len(filled)
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.jsonl", Path(folder) / "out"
        lines = [json.dumps(row) + "\n" for row in rows]
        source.write_text("".join(lines))
        neardup.deduplicate(source, against=others, no_empty=True, **options).write(out)
        left_out = [line for line, has in zip(lines, has_tokens, strict=True) if not has]
        written = out / "empty/in.jsonl"
        assert (written.read_text() if written.exists() else "") == "".join(left_out)
        assert written.exists() == bool(left_out)
        assert not (out / "skipped").exists()


def test_no_empty__weighs_nothing():
    documents = ["a b c d", "a b c e", "a x y", "b x z", *[""] * 50]
    others = ["a b c d e", *["..."] * 50]
    options = {"measure": "weighted-jaccard", "ngram": 1, "threshold": 0.3}
    expected = neardup.deduplicate(documents[:4], against=others[:1], **options)
    found = neardup.deduplicate(documents, against=others, no_empty=True, **options)
    assert found.removed["similarity"].to_pylist() == expected.removed["similarity"].to_pylist()
    assert len(found.removed) >= 2


def test_no_empty__is_not_added(tmp_path):
    documents = {"id": ["a", "b", "c"], "text": ["one two three", "", "four five six"]}
    options = {"against": tmp_path / "index", "add": True, "no_empty": True}
    found = neardup.deduplicate(pa.table(documents), **options)
    assert (found.summary["documents_added"], found.summary["empty_left_out"]) == (2, 1)
    with neardup.open_index(tmp_path / "index") as index:
        assert [key in index for key in "abc"] == [True, False, True]
