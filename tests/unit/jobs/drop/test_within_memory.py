"""A drop keeps ids in files where they are more than its memory takes."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from neardup.engine.threads import ThreadEngine
from neardup.errors import InvalidInputError
from neardup.files import documents as id_table
from neardup.files.inputs import resolve_paths
from neardup.jobs.drop import drop_documents
from neardup.options.document_options import DropOptions
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace

N_FILES, N_ROWS = 5, 40


@pytest.fixture
def folder(tmp_path):
    """Some files, in each a row that is bad, and a table that names every third document."""
    for i in range(N_FILES):
        rows = [{"id": f"{i}-{j}", "text": "a b" if j != 7 else 1} for j in range(N_ROWS)]
        content = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{i}.jsonl").write_text(content)
    named = [f"{i}-{j}" for i in range(N_FILES) for j in range(0, N_ROWS, 3)]
    (tmp_path / "named.txt").write_text("".join(f"{name}\n" for name in named))
    return tmp_path


def drop(folder, workspace, **options):
    options = DropOptions(**{"on_error": "skip", "id_column": "id"} | options)
    sources = resolve_paths([str(folder / f"{i}.jsonl") for i in range(N_FILES)], options)
    engine = ThreadEngine(Runner(2), workspace)
    return drop_documents(engine, sources, str(folder / "named.txt"), options)


def test_drop__same_in_files(folder, tmp_path):
    in_memory = drop(folder, IN_MEMORY)
    expected = [f"{i}-{j}" for i in range(N_FILES) for j in range(0, N_ROWS, 3)]
    assert in_memory.removed["id"].to_pylist() == expected
    assert in_memory.summary["skipped_rows"] == N_FILES
    in_memory.write(tmp_path / "one")
    with Workspace(100, WorkFolder.temporary(tmp_path / "work")) as workspace:
        in_files = drop(folder, workspace)
        assert workspace.work.n_done > 0
        in_files.write(tmp_path / "two")
    for name in ("removed.parquet", "kept/1.jsonl", "removed/4.jsonl"):
        one, two = ((tmp_path / each / name).read_bytes() for each in ("one", "two"))
        assert one == two
    assert len(pq.read_table(tmp_path / "two/removed.parquet")) == len(expected)


def test_drop__names_that_are_not_there(folder):
    """Those of skipped rows, too; a document is looked for in all files."""
    with (folder / "named.txt").open("a") as file:
        file.write("nobody\n0-7\n4-39\n")
    with pytest.raises(InvalidInputError):
        drop(folder, IN_MEMORY)
    found = drop(folder, IN_MEMORY, missing="ignore")
    assert found.summary["missing_documents"] == 2
    assert found.summary["documents_removed"] == 70


@pytest.mark.parametrize("mask", [0, 1, 2**64 - 1])
def test_drop__whatever_the_hashes_of_ids(folder, monkeypatch, mask):
    """Ids of one hash are distinguished."""
    real = id_table.hash_ids
    monkeypatch.setattr(id_table, "hash_ids", lambda ids: real(ids) & np.uint64(mask))
    with (folder / "named.txt").open("a") as file:
        file.write("nobody\n0-0\n")
    found = drop(folder, IN_MEMORY, missing="ignore")
    assert found.summary["named_documents"] == 5 * 14 + 1
    assert found.summary["missing_documents"] == 1
    assert found.removed["id"].to_pylist() == [
        f"{i}-{j}" for i in range(N_FILES) for j in range(0, N_ROWS, 3)
    ]
