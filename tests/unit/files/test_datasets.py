"""Folders of saved data sets: their rows, and nothing that lies beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import ipc

import neardup
from neardup.errors import InvalidInputError
from neardup.files.inputs import resolve_paths
from tests.each import each_of


def save(folder: Path, texts: list[str]) -> None:
    """Write what ``save_to_disk`` writes, and a cache of ``map``."""
    folder.mkdir(parents=True)
    name = "data-00000-of-00001.arrow"
    for file, rows in ((name, texts), ("cache-1f2e.arrow", [text.upper() for text in texts])):
        table = pa.table({"text": rows})
        with ipc.new_stream(folder / file, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}}))
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))


def test_saved_dataset__its_rows(tmp_path):
    save(tmp_path / "saved", ["one two", "one two", "three"])
    result = neardup.deduplicate(tmp_path / "saved", text=neardup.TextOptions(ngram=1))
    assert result.kept["text"].to_pylist() == ["one two", "three"]
    assert result.summary["passed_over"] == {}
    result.write(tmp_path / "out")
    [kept] = (tmp_path / "out/kept").iterdir()
    assert ipc.open_stream(kept.read_bytes()).read_all()["text"].to_pylist() == ["one two", "three"]


def test_saved_dataset__of_several(tmp_path):
    for name in ("train", "test"):
        save(tmp_path / name, [name])
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    names = [source.name for source in resolve_paths([str(tmp_path)])]
    assert names == [f"{name}/data-00000-of-00001.arrow" for name in ("test", "train")]


@each_of("content", ["", "{}", "[]", '{"_data_files": [{}]}'])
def test_saved_dataset__damaged(tmp_path, content):
    save(tmp_path / "saved", ["one"])
    (tmp_path / "saved/state.json").write_text(content)
    with pytest.raises(
        InvalidInputError, match=r"state\.json: expected the state of a saved data set"
    ):
        resolve_paths([str(tmp_path)])


def test_saved_dataset__files_of_such_names_elsewhere(tmp_path):
    (tmp_path / "state.json").write_text('[{"text": "a"}]')
    assert [source.name for source in resolve_paths([str(tmp_path)])] == ["state.json"]
