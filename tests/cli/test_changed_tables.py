"""Tables of an output folder that have changed since they were written are refused."""

from __future__ import annotations

import hashlib
import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.version import __version__

TEXTS = {
    "a": "the cat sat on the mat and looked at the moon",
    "b": "the cat sat on the mat and looked at the sun",
    "c": "the cat sat on a mat and looked at my star",
    "d": "nothing of this is like the others here",
}


@pytest.fixture
def clean(run, write_file, once):
    """Deduplicate a collection, and cut it."""

    def make():
        lines = [json.dumps({"id": key, "text": text}) + "\n" for key, text in TEXTS.items()]
        write_file("in.jsonl", "".join(lines))
        assert run("dedup", "in.jsonl", "--ngram", 1, "--threshold", "0.5", "-o", "clean").code == 0
        assert run("cut", "in.jsonl", "--exact", "--min-tokens", 4, "-o", "short").code == 0

    once(make)


def edit(here, folder, name="removed.parquet", **columns):
    """Give all rows of a table another value of some columns."""
    table = pq.read_table(here / folder / name)
    for column, value in columns.items():
        values = pa.array([value] * len(table), table.schema.field(column).type)
        table = table.set_column(table.column_names.index(column), column, values)
    pq.write_table(table, here / folder / name)


USES = [
    # A report compares its examples again, so all that differs is how rows are laid out.
    ("clean", {}, ("report", "clean", "-o", "page.html")),
    ("clean", {"similarity": 0.75}, ("explain", "clean", "b")),
    ("clean", {"id": "d"}, ("drop", "in.jsonl", "--named-in", "clean/removed.parquet",
                            "--column", "id", "-o", "out")),
    ("clean", {"id": "d"}, ("drop", "in.jsonl", "--named-in", "clean/rem*.parquet",
                            "--column", "id", "-o", "out")),
    ("short", {"similarity": 0.75}, ("report", "short", "-o", "page.html")),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "changed", "command"), USES, ids=range(5))
def test_changed_table(run, here, clean, folder, changed, command):
    outcome = run(*command)
    assert (outcome.code, outcome.err) == (0, "")
    shutil.rmtree(here / "out", ignore_errors=True)
    (here / "page.html").unlink(missing_ok=True)
    edit(here, folder, **changed)
    assert run(*command).err == (
        f"error: {folder}: removed.parquet is not the table that was written there: its digest is "
        "not the one in summary.json; write the folder again, or, if you have changed the table "
        "on purpose, move it to another folder\n"
    )
    assert not (here / "out").exists()
    assert not (here / "page.html").exists()


def test_changed_summary(run, here, clean):
    path = here / "clean/summary.json"
    whole = path.read_text()
    changed = whole.replace('"threshold": 0.5', '"threshold": 0.6')
    assert changed != whole
    path.write_text(changed)
    for command in (
        ("report", "clean", "-o", "page.html"),
        ("explain", "clean", "b"),
        ("drop", "in.jsonl", "--named-in", "clean/removed.parquet", "--column", "id", "-o", "out"),
    ):
        error = run(*command).err
        assert error.startswith("error: clean: its summary.json is not as it was written")
        assert error.endswith("; write the folder again\n")
        assert error.count("\n") == 1
    # Laid out otherwise, it says the same.
    path.write_text(json.dumps(dict(sorted(json.loads(whole).items()))))
    assert run("explain", "clean", "b").code == 0
    for lacking in ({"digest"}, {"digest", "tables"}):
        left = {name: value for name, value in json.loads(whole).items() if name not in lacking}
        path.write_text(json.dumps(left))
        assert "is not as it was written" in run("explain", "clean", "b").err


def test_summary__of_another_version(run, here, clean, monkeypatch):
    for version, code in (("0.1.9", 0), ("0.2.0", 1), ("1.1.0", 1)):
        monkeypatch.setattr("neardup.outputs.output_tables.__version__", version)
        outcome = run("explain", "clean", "b")
        assert outcome.code == code
        if code:
            assert outcome.err == (
                f"error: clean: neardup {__version__} has written it, this is neardup {version}; "
                "install that version, or write the folder again\n"
            )


def test_digests(run, here, clean):
    for folder in ("clean", "short"):
        summary = json.loads((here / folder / "summary.json").read_text())
        assert summary["tables"] == {
            path.name: "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((here / folder).glob("*.parquet"), reverse=True)
        }


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b"\xff\xfe", b'{"a": 1, "a": 2}', b'{"a": ' + b"9" * 5000 + b"}", b"17", b""],
    ids=["deep", "no UTF-8", "twice", "huge", "number", "empty"],
)
def test_summary__no_summary(run, here, clean, content):
    (here / "clean/summary.json").write_bytes(content)
    for command in (("report", "clean", "-o", "page.html"), ("explain", "clean", "b")):
        error = run(*command).err
        assert error.startswith("error: clean: its summary.json is ")
        assert error.count("\n") == 1
