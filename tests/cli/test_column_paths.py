"""Every job that names columns reads those within others as it reads them beside others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.each import each_of

# What is read, by its name in flat rows and its path in nested ones.
PATHS = {
    "key": "doc.key",
    "text": "doc.text",
    "url": "meta.in.url",
    "score": "meta.score",
    "tag": "tags.own",
}


def flat_rows(texts: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "key": f"d{number}",
            "text": text,
            "url": f"http://{'abc'[number % 3]}.example/{number}",
            "score": (number * 7) % 11,
            "tag": "xyz"[number % 3],
        }
        for number, text in enumerate(texts)
    ]


def nested(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "doc": {"key": row["key"], "text": row["text"], "size": len(row["text"])},
        "meta": {"in": {"url": row["url"]}, "score": row["score"]},
        "tags": {"own": row["tag"], "others": ["first"]},
    }


@pytest.fixture
def inputs(here: Path, texts: list[str]) -> Path:
    """Write the same documents as flat and as nested rows."""
    rows = flat_rows([text for text in texts if text])
    for kind, made in (("flat", rows), ("nested", list(map(nested, rows)))):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in made)
        (here / f"{kind}.jsonl").write_text("".join(lines))
        pq.write_table(pa.Table.from_pylist(made), here / f"{kind}.parquet")
    return here


def named(arguments: tuple[str, ...], shape: str, suffix: str) -> list[str]:
    """Return arguments that name columns as ``{url}`` for a shape of rows."""
    names = {name: path if shape == "nested" else name for name, path in PATHS.items()}
    names |= {"input": f"{shape}.{suffix}", "out": f"{shape}-out"}
    return [argument.format(**names) for argument in arguments]


READ = ("{input}", "--text-column", "{text}", "--id-column", "{key}")


@pytest.mark.slow
@each_of("suffix", ["jsonl", "parquet"])
@each_of(
    "options",
    [
        ("--keep", "max:{score}"),
        ("--keep", "priority:{tag}=z,x"),
        ("--keep", "min:{url}", "--memory", "40MB"),
    ],
)
def test_dedup(inputs, run, suffix, options):
    for shape in ("flat", "nested"):
        arguments = ("dedup", *READ, "-o", "{out}", "--overwrite", *options)
        assert run(*named(arguments, shape, suffix)).code == 0
    for name in ("removed", "clusters"):
        tables = [pq.read_table(f"{shape}-out/{name}.parquet") for shape in ("flat", "nested")]
        flat, other = (
            table.select([each for each in table.column_names if "file" not in each])
            for table in tables
        )
        assert flat.num_rows > 5
        assert flat.equals(other)
    summaries = [
        json.loads(Path(f"{shape}-out/summary.json").read_text()) for shape in ("flat", "nested")
    ]
    for key in ("documents_in", "documents_removed", "exact_copies"):
        assert summaries[0][key] == summaries[1][key]
    if suffix == "jsonl":
        # What stays is what was, within each other too.
        own = set((inputs / "nested.jsonl").read_bytes().splitlines())
        kept = (inputs / "nested-out" / "kept" / "nested.jsonl").read_bytes().splitlines()
        assert set(kept) < own


@pytest.mark.slow
@each_of("suffix", ["jsonl", "parquet"])
@each_of(
    "options",
    [
        ("--blocking", "{tag}"),
        ("--columns", "{url}", "--columns", "{score}"),
    ],
)
def test_pairs(inputs, run, suffix, options):
    tables = []
    for shape in ("flat", "nested"):
        arguments = ("pairs", *READ, "-o", f"{shape}.pairs.parquet", "--overwrite", *options)
        assert run(*named(arguments, shape, suffix)).code == 0
        table = pq.read_table(f"{shape}.pairs.parquet")
        back = {path: name for name, path in PATHS.items()}
        names = table.column_names
        for path, name in back.items():
            names = [each.replace(path, name) for each in names]
        tables.append(table.rename_columns(names).replace_schema_metadata())
    assert tables[0].num_rows > 5
    assert tables[0].equals(tables[1])


@each_of(
    ("options", "message"),
    [
        (("--text-column", "text"), "no column 'text'; columns are 'doc.key', 'doc.text'"),
        (("--keep", "max:meta.scor"), "no column 'meta.scor'; columns are 'doc.key', "),
        (("--id-column", "doc.key.id"), "no column 'doc.key.id'; columns are"),
    ],
)
@each_of("suffix", ["jsonl", "parquet"])
def test_a_path_that_leads_nowhere(inputs, run, options, message, suffix):
    read = [*READ]
    if options[0] in read:
        del read[(i := read.index(options[0])) : i + 2]
    failed = run(*named(("dedup", *read, *options, "-o", "{out}", "--overwrite"), "nested", suffix))
    assert failed.code == 1
    assert message in failed.err
