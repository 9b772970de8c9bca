"""What is free, by files that systems have: meminfo, and control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup.runs import runner
from neardup.runs.runner import available_memory_bytes, default_memory_bytes

MB = 10**6
MEMINFO = "MemTotal:       24684092 kB\nMemFree:  1 kB\nMemAvailable:   {} kB\nHugePages_Total: 0\n"


def write(root: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(content))


def write_machine(root: Path, kilobytes: int, group: str) -> None:
    write(root, {"proc/meminfo": MEMINFO.format(kilobytes), "proc/self/cgroup": group})


def write_group(root: Path, limit: object, used: int, stat: str = "") -> None:
    write(root, {"memory.max": limit, "memory.current": used, "memory.stat": stat})


def test_available__of_the_machine(tmp_path):
    write(tmp_path, {"proc/meminfo": MEMINFO.format(1000)})
    assert available_memory_bytes(tmp_path) == 1000 * 1024


@pytest.mark.parametrize("group", ["/a/b", "/"])
def test_available__version_2(tmp_path, group):
    write_machine(tmp_path, 10**9, f"0::{group}\n")
    folder = tmp_path / "sys/fs/cgroup" / group.lstrip("/")
    stat = f"anon {60 * MB}\nfile {900 * MB}\ninactive_file {20 * MB}\nactive_file {10 * MB}\n"
    write_group(folder, 500 * MB, 300 * MB, stat + f"slab_reclaimable {MB}\nsock 0\n")
    assert available_memory_bytes(tmp_path) == 231 * MB
    write(folder, {"memory.high": 400 * MB})
    assert available_memory_bytes(tmp_path) == 131 * MB
    write_group(folder, 500 * MB, 900 * MB)
    assert available_memory_bytes(tmp_path) == 0


def test_available__of_groups_above(tmp_path):
    write_machine(tmp_path, 10**9, "0::/a/b\n")
    group = tmp_path / "sys/fs/cgroup/a"
    write_group(group / "b", "max", 100 * MB)
    write_group(group, 500 * MB, 200 * MB)
    assert available_memory_bytes(tmp_path) == 300 * MB
    write_group(group / "b", 350 * MB, 100 * MB)
    assert available_memory_bytes(tmp_path) == 250 * MB
    write_group(group, "max", 200 * MB)
    write_group(group / "b", "max", 200 * MB)
    assert available_memory_bytes(tmp_path) == 1024 * 10**9


def test_available__unknown(tmp_path):
    assert available_memory_bytes(tmp_path) is None


@pytest.mark.parametrize(
    ("available", "budget"), [(10**9, 600 * MB), (10 * MB, 64 * MB), (None, 10**9)]
)
def test_default_memory(monkeypatch, available, budget):
    monkeypatch.setattr(runner, "available_memory_bytes", lambda: available)
    assert default_memory_bytes() == budget
