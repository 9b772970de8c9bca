"""``neardup dedup --pairs``: documents decided again by a table of pairs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.outputs.tables import write_table

ROWS = b"""{"text": "the cat sat on the mat",   "id": "a"}
{"text": "the cat sat on a mat", "id": "b"}
{"id": "c", "text": "the cat sat on a hat"}
{"id": "d", "text": "a dog"}
"""
BY_ID = "ids are from column 'id', which all inputs have; --id-column '' makes them <file>:<row>"


@pytest.fixture
def found(run, here, write_file):
    """Write documents, and their pairs as Parquet and as CSV."""
    write_file("in.jsonl", ROWS)
    for name in ("pairs.parquet", "pairs.csv"):
        pairs = ("pairs", "in.jsonl", "--ngram", "1", "--threshold", "0.5", "-o", name)
        assert run(*pairs).code == 0
    return here


def lines_of(outcome):
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.splitlines()


def removed(folder):
    rows = pq.read_table(folder / "removed.parquet").to_pylist()
    return [(row["id"], row["kept_id"]) for row in rows]


def test_dedup_by_pairs__output(run, found):
    by_pairs = ("dedup", "in.jsonl", "--pairs", "pairs.parquet")
    lines = lines_of(run(*by_pairs, "--threshold", "0.7", "-o", "out"))
    assert lines[:3] == [
        "4 documents: 3 kept, 1 removed",
        "similar: jaccard >= 0.7, by 2 of 3 pairs in pairs.parquet",
        BY_ID,
    ]
    assert lines[3].startswith("written to out in ")
    out = found / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        *("clusters.parquet", "kept", "removed", "removed.parquet", "summary.json")
    ]
    kept, gone = (out / name / "in.jsonl" for name in ("kept", "removed"))
    rows = ROWS.splitlines(keepends=True)
    assert (kept.read_bytes(), gone.read_bytes()) == (rows[0] + rows[2] + rows[3], rows[1])
    assert removed(out) == [("b", "a")]
    assert pq.read_schema(out / "removed.parquet").names == [
        *("id", "kept_id", "similarity", "exact_copy", "file", "row"),
        *("kept_in", "kept_file", "kept_row"),
    ]


def test_dedup_by_pairs__table_that_does_not_say_its_threshold(run, found):
    by_pairs = ("dedup", "in.jsonl", "--pairs", "pairs.csv", "--measure", "jaccard")
    lines = lines_of(run(*by_pairs, "--clusters", "components", "-o", "out"))
    assert lines[:5] == [
        "4 documents: 2 kept, 2 removed",
        "similar: jaccard >= 0.571429, by 3 of 3 pairs in pairs.csv",
        "pairs.csv does not say from which threshold on it has all pairs; its least similarity is "
        "taken for that, 0.571429",
        BY_ID,
        "components remove 0 documents more than survivors",
    ]


@pytest.mark.parametrize(
    "options",
    [
        *(
            ["--tokenizer", "words"],
            ["--ngram", "5"],
            ["--recall", "0.9"],
        ),
        *(["--casefold"], ["--method", "exact"], ["--audit", "3"]),
        ["--engine", "threads"],
        *(["--against", "in.jsonl"], ["--against-id-column", "id"]),
    ],
    ids=" ".join,
)
def test_dedup_by_pairs__options_without_effect(run, found, options):
    outcome = run("dedup", "in.jsonl", "--pairs", "pairs.parquet", *options, "-o", "out")
    assert outcome.code == 1
    assert outcome.err == (
        f"error: {options[0]} has no effect with --pairs, whose texts were compared when they were "
        "found; leave it out, or leave out --pairs\n"
    )
    assert not (found / "out").exists()


def test_dedup_by_pairs__refuses(run, found):
    (found / "few.jsonl").write_bytes(ROWS.splitlines(keepends=True)[0])
    outcome = run("dedup", "few.jsonl", "--pairs", "pairs.csv", "--measure", "dice", "-o", "out")
    assert outcome.code == 1
    assert outcome.err == (
        "error: pairs.csv names 2 documents that the input does not have, such as 'b'; give the "
        "same input and --id-column as when the pairs were found\n"
    )
    outcome = run("dedup", "few.jsonl", "--pairs", "none.parquet", "-o", "out")
    assert (outcome.code, outcome.err) == (1, "error: none.parquet: no such file\n")
    outcome = run("dedup", "in.jsonl", "--pairs", "pairs.csv", "-o", "out")
    assert outcome.err == (
        "error: pairs.csv does not say how similarities were measured, as Parquet files and "
        "results of `neardup pairs` do; give --measure\n"
    )
    assert not (found / "out").exists()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("labels", [["", "", ""], [" ", "", "  "], [None, None, None]])
def test_dedup_by_pairs__labels_that_are_empty(run, found, ending, labels):
    pairs = pq.read_table("pairs.parquet")
    pairs = pairs.append_column("label", pa.array(labels, pa.string()))
    write_table(pairs, Path(f"judged.{ending}"))
    by_pairs = ("--pairs", f"judged.{ending}", "--measure", "jaccard")
    outcome = run("dedup", "in.jsonl", *by_pairs, "-o", "out")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.splitlines()[-1] == (
        f"error: judged.{ending}: column 'label' is empty in every row, so that no pair is judged; "
        "write yes, no or unsure there, or leave the column out if all of these pairs are the same"
    )
    with pytest.raises(neardup.InvalidInputError, match="column 'label' is empty in every row"):
        neardup.choose(pairs, measure="jaccard")
    none = pairs.set_column(pairs.num_columns - 1, "label", pa.array(["no", None, None]))
    assert len(neardup.choose(none, measure="jaccard").removed) == 0
    assert len(neardup.choose(pairs.slice(0, 0), measure="jaccard").removed) == 0
