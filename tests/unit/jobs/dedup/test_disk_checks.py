"""Free disk is looked at before the work that needs it, by what is known then."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from neardup.engine.threads import ThreadEngine
from neardup.errors import WriteError
from neardup.files.inputs import resolve_inputs
from neardup.files.jsonlines import JsonLinesSource
from neardup.jobs.dedup.run import deduplicate_sources
from neardup.options.documents import DedupOptions
from neardup.runs.runner import Runner
from neardup.runs.work import WorkFolder, Workspace
from neardup.stages.options import Reference, plan_deduplication

N = 2000


def run(tmp_path, monkeypatch, *, memory: int) -> tuple[dict[str, int], Workspace]:
    """Deduplicate pairs of texts; return the sizes of the files of the work folder by stage."""
    lines = [
        f'{{"text": "{" ".join(f"w{i // 2}-{j}" for j in range(40))} {i}"}}\n' for i in range(N)
    ]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    monkeypatch.setitem(JsonLinesSource.__init__.__kwdefaults__, "block_bytes", 50_000)
    options = DedupOptions(text_column="text")
    plan = plan_deduplication(options)
    sources = resolve_inputs(str(tmp_path / "a.jsonl"), options)
    sizes: dict[str, int] = {}
    with Workspace(memory, WorkFolder.temporary(tmp_path)) as workspace:
        deduplicate_sources(ThreadEngine(Runner(1), workspace), sources, Reference(plan, []))
        if workspace.work.folder.exists():
            for path in workspace.work.folder.iterdir():
                name = path.name.partition("-")[0]
                sizes[name] = sizes.get(name, 0) + path.stat().st_size
    return sizes, workspace


def test_disk__too_small(tmp_path, monkeypatch):
    """The run ends when it first puts something into a file, and nothing is left."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(WriteError, match=r"has 1\.0 kB free, and temporary files need \d+ kB"):
        run(tmp_path, monkeypatch, memory=200_000)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
