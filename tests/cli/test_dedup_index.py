"""``neardup dedup --against INDEX --add``: the same result week by week as in one run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.documents.document_handle import DocumentHandle
from neardup.errors import WriteError
from neardup.runs.runner import Runner
from tests.calls import grouped
from tests.spilling import files_of, make_rows, spilling, stopped_after, work_folders, write_lines

ROWS = make_rows(3, 90, chain=25)
PARTS = {"a.jsonl": ROWS[:40], "b.jsonl": ROWS[40:75], "c.jsonl": ROWS[75:]}
SCHEME = {"threshold": "0.6", "ngram": 2}


@pytest.fixture
def index(here):
    """Make an empty index, and write the input in parts."""
    for name, rows in PARTS.items():
        write_lines(here / name, rows)
    write_lines(here / "all.jsonl", ROWS)
    return neardup.DocumentIndex.create(here / "idx", **grouped(columns="score", **SCHEME))


def check_same_removed(of_index, of_file):
    """Hold tables to be the same, but for places of keepers, which an index does not know."""
    places = ["kept_file", "kept_row"]
    tables = [result.removed.drop_columns(places) for result in (of_index, of_file)]
    assert tables[0] == tables[1]
    keepers = of_index.removed
    is_of_index = [kept_in == "against" for kept_in in keepers["kept_in"].to_pylist()]
    for name in places:
        expected = [
            None if unknown else value
            for unknown, value in zip(is_of_index, of_file.removed[name].to_pylist(), strict=True)
        ]
        assert keepers[name].to_pylist() == expected


def removed_in(folder):
    table = pq.read_table(folder / "removed.parquet")
    return table.select(["id", "kept_id", "similarity", "exact_copy"]).to_pylist()


def rows_of(folder):
    view = DocumentHandle(Path(folder)).view(Runner(1))
    live = [view.live_rows(i) + first for i, first in enumerate(view.first_documents[:-1])]
    return [row for documents in live for row in view.read_rows(documents).to_pylist()]


def test_add__batches_as_one_run(run, here, index):
    gone = []
    for number, name in enumerate(PARTS):
        found = run("dedup", name, "--against", "idx", "--add", "-o", f"out{number}")
        assert (found.code, found.err) == (0, "")
        gone += removed_in(here / f"out{number}")
        summary = json.loads((here / f"out{number}/summary.json").read_text())
        assert summary["documents_added"] == summary["documents_kept"]
        n_before = sum(len(rows) for rows in list(PARTS.values())[:number])
        assert summary["against_documents"] == n_before - len(gone) + summary["documents_removed"]
        added = f"{summary['documents_added']} documents added to the index idx"
        assert added in found.out
        assert f"{summary['removed_for_against']} removed as similar to --against" in found.out
    assert run("dedup", "all.jsonl", "--threshold", "0.6", "--ngram", 2, "-o", "all").code == 0
    assert gone == removed_in(here / "all")
    assert any(row["kept_id"] != row["id"] and row["exact_copy"] for row in gone)
    stays = {row["id"] for row in ROWS} - {row["id"] for row in gone}
    assert rows_of("idx") == [row for row in ROWS if row["id"] in stays]


def test_add__again_is_as_before(run, here, index):
    """As after a kill behind the commit: what was added stays, and is not added again."""
    for name in list(PARTS)[:2]:
        assert run("dedup", name, "--against", "idx", "--add", "-o", f"of-{name[0]}").code == 0
    rows = rows_of("idx")
    for name in list(PARTS)[:2]:
        found = run("dedup", name, "--against", "idx", "--add", "-o", "again")
        assert (found.code, found.err) == (0, "")
        summary = json.loads((here / "again/summary.json").read_text())
        assert (summary["documents_added"], summary["documents_known"]) == (
            0,
            summary["documents_kept"],
        )
        assert "there already, with the same id and text" in found.out
        assert removed_in(here / "again") == removed_in(here / f"of-{name[0]}")
        kept = [(here / of / "kept" / name).read_bytes() for of in ("again", f"of-{name[0]}")]
        assert kept[0] == kept[1]
        shutil.rmtree(here / "again")
    assert rows_of("idx") == rows
    orphans = neardup.DocumentIndex.open(here / "idx").remove([row["id"] for row in rows]).orphans
    listed = [tuple(row.values()) for row in orphans.select(["id", "kept_id"]).to_pylist()]
    assert len(set(listed)) == len(listed) > 0
    assert all(identifier != kept for identifier, kept in listed)


def test_without_add__the_index_stays_as_it_is(run, here, index):
    assert run("dedup", "a.jsonl", "--against", "idx", "--add", "-o", "out").code == 0
    before = {path: path.read_bytes() for path in (here / "idx").rglob("*.npy")}
    assert run("dedup", "a.jsonl", "--against", "idx", "-o", "out", "--overwrite").code == 0
    assert {path: path.read_bytes() for path in (here / "idx").rglob("*.npy")} == before
    kept = pq.read_table("out/removed.parquet")
    # What stays for them has an id of the input, too, and it is not that document.
    assert all(name.startswith("against/") for name in kept["kept_id"].to_pylist())
    n_empty = sum(not row["text"] for row in PARTS["a.jsonl"])
    assert len(kept) == len(PARTS["a.jsonl"]) - n_empty


@pytest.mark.slow
def test_stopped__goes_on_while_the_index_is_the_same(run, here, index):
    assert run("dedup", "a.jsonl", "--against", "idx", "--add", "-o", "out").code == 0
    job = ("dedup", "b.jsonl", "--against", "idx", "--add", "--workers", 1, "-o", "new")
    shutil.copytree("idx", "copy")
    assert run(*job).code == 0
    expected, after = files_of(here / "new"), rows_of("idx")

    def restore():
        shutil.rmtree("idx")
        shutil.rmtree("new", ignore_errors=True)
        shutil.copytree("copy", "idx")

    for n_tasks in (1, 3, 5):
        restore()
        with spilling(3_000, file=2_000), stopped_after(n_tasks):
            assert run(*job).code == 130
        assert rows_of("idx") == rows_of("copy")
        with spilling(2_000):
            found = run(*job)
        assert (found.code, work_folders(here)) == (0, [])
        assert "continuing a stopped run" in found.err
        assert (files_of(here / "new"), rows_of("idx")) == (expected, after)
    restore()
    with spilling(3_000, file=2_000), stopped_after(4):
        assert run(*job).code == 130
    with neardup.DocumentIndex.open("idx") as opened:
        opened.insert("another", "document of the index", score=1)
    found = run(*job)
    assert found.code == 0
    assert "belongs to a stopped run with other options or inputs" in found.err


@pytest.mark.parametrize("fails_at", ["neardup.index.store.Database.commit", "write"])
def test_add__what_fails_leaves_the_index_as_it_was(run, here, index, monkeypatch, fails_at):
    assert run("dedup", "a.jsonl", "--against", "idx", "--add", "-o", "out").code == 0
    before = rows_of("idx")
    name = "neardup.stages.selection.write_summary" if fails_at == "write" else fails_at

    def fail(*_):
        raise WriteError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(name, fail)
        assert run("dedup", "b.jsonl", "--against", "idx", "--add", "-o", "new").code == 1
    assert rows_of("idx") == before
    # The index changes last of all.
    assert (here / "new").exists() == (fails_at != "write")
    assert (
        run("dedup", "b.jsonl", "--against", "idx", "--add", "-o", "new", "--overwrite").code == 0
    )


def test_add__an_id_of_the_index(run, here, index, write_file):
    assert run("dedup", "a.jsonl", "--against", "idx", "--add", "-o", "out").code == 0
    known = rows_of("idx")[0]
    rows = [{"id": "new", "text": "x y z"}, {"id": known["id"], "text": "entirely different"}]
    write_lines(here / "d.jsonl", [{**row, "score": 0} for row in rows])
    found = run("dedup", "d.jsonl", "--against", "idx", "--add", "-o", "new")
    assert found.code == 1
    assert found.err == (
        f"error: d.jsonl, row 2: id '{known['id']}' is in the index already; ids must differ. "
        "Remove the old document first, or choose other ids; ids come from column 'id' "
        "because all inputs have one: name another with --id-column, or '' for "
        "<file>:<row>\n"
    )
    assert not (here / "new").exists()
    # The same document again may have it.
    write_lines(here / "d.jsonl", [rows[0] | {"score": 0}, known])
    assert run("dedup", "d.jsonl", "--against", "idx", "--add", "-o", "new").code == 0
    assert removed_in(here / "new") == []
    assert [row["id"] for row in rows_of("idx")].count(known["id"]) == 1


REFUSED = {
    "--measure dice": "the index was made with --measure jaccard, got dice; leave out --measure, "
    "or build another index",
    "--ngram 3": "the index was made with --ngram 2, got 3; leave out --ngram, or build another "
    "index",
    "--recall 0.9": "the index was made with --recall 0.99, got 0.9; leave out --recall, or build "
    "another index",
    "--strip-accents": "the index was made with --strip-accents False, got True; leave out "
    "--strip-accents, or build another index",
    "--threshold 0.5": "--threshold must be at least 0.6, for which the index was made, got 0.5; "
    "build an index with a lower one",
    "--against b.jsonl": "--against names an index and other documents; add these to it, or run "
    "once for each",
    "--against-id-column id": "--against-id-column has no effect with an index; leave it out, or "
    "name files with --against",
    "--add --clusters components": "--add needs method minhash and clusters survivors, without an "
    "audit; choose these",
    "--engine spark --clusters components": "--clusters needs all documents in one memory, and "
    "cannot be had with --engine spark; leave it out, or choose --engine threads",
}


@pytest.mark.parametrize("options", REFUSED)
def test_options__that_are_unlike_the_index(run, here, index, options):
    found = run("dedup", "a.jsonl", "--against", "idx", "-o", "out", *options.split())
    assert (found.code, found.out) == (1, "")
    assert found.err == f"error: {REFUSED[options]}\n"
    assert not (here / "out").exists()


def test_add__needs_an_index(run, here, write_texts):
    write_texts("a.jsonl", ["one"])
    for against in ((), ("--against", "a.jsonl")):
        found = run("dedup", "a.jsonl", *against, "--add", "-o", "out")
        assert (found.code, found.err) == (
            1,
            "error: --add needs an index for the kept documents; name the index with --against\n",
        )


@pytest.mark.parametrize("output", ["idx", "idx/new", "."])
def test_output__never_takes_the_index_away(run, here, index, output):
    before = {path: path.read_bytes() for path in (here / "idx").rglob("*.npy")}
    found = run("dedup", "a.jsonl", "--against", "idx", "-o", output, "--overwrite")
    assert found.code == 1
    assert {path: path.read_bytes() for path in (here / "idx").rglob("*.npy")} == before


@pytest.mark.parametrize(
    "options",
    [{"clusters": "components"}, {"method": "exact"}, {"audit": 20}],
    ids=str,
)
def test_all_texts__as_against_the_same_documents_in_a_file(here, index, options):
    index.add(here / "a.jsonl")
    of_index = neardup.deduplicate(here / "b.jsonl", **grouped(against=index, **options))
    table = pa.Table.from_pylist(PARTS["a.jsonl"])
    of_file = neardup.deduplicate(here / "b.jsonl", **grouped(against=table, **SCHEME, **options))
    check_same_removed(of_index, of_file)
    assert of_index.clusters == of_file.clusters
    assert of_index.summary.get("audit") == of_file.summary.get("audit")
    assert len(of_index.removed) > 5


def test_add__makes_the_index_that_is_not_there(run, here, index):
    options = ("--threshold", "0.6", "--ngram", 2)
    for number, name in enumerate(PARTS):
        given = options if number == 0 else ()
        for folder in ("idx", "new"):
            out = f"{folder}-{number}"
            found = run("dedup", name, "--against", folder, "--add", *given, "-o", out)
            assert (found.code, found.err) == (0, "")
            is_new = folder == "new" and number == 0
            assert ("added to the index new, which is new" in found.out) == is_new
        assert removed_in(here / f"new-{number}") == removed_in(here / f"idx-{number}")
    # The index that was there keeps a column.
    assert rows_of("new") == [
        {key: value for key, value in row.items() if key != "score"} for row in rows_of("idx")
    ]
    schemes = [DocumentHandle(Path(each)).view(Runner(1)).scheme for each in ("new", "idx")]
    assert schemes[0].describe() == schemes[1].describe() | {"columns": []}


def test_add__leaves_no_index_behind_where_it_fails(run, here, write_file):
    write_file("bad.jsonl", '{"text": "a b c"}\n{"text": 7}\n')
    assert run("dedup", "bad.jsonl", "--against", "new", "--add", "-o", "out").code == 1
    assert not (here / "new").exists()
    # What others have found, and added to, stays.
    scheme = neardup.DocumentIndex.create(here / "known", text=neardup.TextOptions(ngram=1))
    scheme.add(["a b c"])
    assert run("dedup", "bad.jsonl", "--against", "known", "--add", "-o", "out").code == 1
    assert len(rows_of("known")) == 1
