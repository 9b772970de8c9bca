"""A writer that fails or is killed leaves the old index or the new one, and no obstacle."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neardup.errors import OutputExistsError, WriteError
from neardup.indexes.folder import create_index
from neardup.indexes.manifest import Manifest, load_manifest
from tests.faults import at_calls, full_from
from tests.indexes import build, change, check, check_names, tree

ROOT = Path(__file__).parents[3]
KILLS = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "3")) * 5


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "index"
    with at_calls(lambda _: None):
        build(folder)
    return folder


@pytest.mark.damage
@pytest.mark.parametrize(
    ("code", "is_once"), [(errno.ENOSPC, True), (errno.ENOSPC, False), (errno.EACCES, False)]
)
def test_full_disk__at_any_call(index, tmp_path, is_once, code):
    folder = tmp_path / "index"
    before = tree(index)
    with at_calls(lambda _: None) as calls:
        shutil.copytree(index, folder)
        del calls[:]
        change(folder)
        n_calls = len(calls)
        assert {"write", "fsync", "replace", "rename", "mkdir", "open"} == set(calls)
    messages, n_new = [], 0
    for position in range(n_calls):
        shutil.rmtree(folder)
        shutil.copytree(index, folder)
        with at_calls(full_from(position, position + 1 if is_once else None, code)):
            try:
                change(folder)
            except WriteError as error:
                messages.append(str(error))
        if check(folder) == 2:
            assert tree(folder) == before
        else:
            # Only the last steps may fail once the manifest has its name.
            n_new += 1
            assert not [name for name in tree(folder) if ".part" in name or "holder" in name]
        with at_calls(lambda _: None):
            change(folder)
        check_names(folder)
    # The text that names the writer may fail, and the removal of what is no longer needed.
    assert len(messages) >= n_calls - 10
    assert n_new <= 12
    for message in messages:
        assert message.startswith(f"cannot write {folder}")
        assert message.endswith(os.strerror(code))


@pytest.mark.parametrize("is_below", [True, False])
def test_full_disk__while_an_index_is_made(tmp_path, is_below):
    folder = tmp_path / "a" / "b" / "index" if is_below else tmp_path / "index"
    if not is_below:
        folder.mkdir()
    for position in range(100):
        with at_calls(full_from(position, position + 1)) as calls:
            try:
                create_index(folder, Manifest({}))
            except WriteError:
                assert list(tmp_path.iterdir()) == ([] if is_below else [folder])
                assert is_below or list(folder.iterdir()) == []
                continue
        if len(calls) <= position:
            break
        # The text that names the writer is no condition.
        assert tree(folder).keys() == {"manifest.json"}
        shutil.rmtree(tmp_path / "a" if is_below else folder)
        if not is_below:
            folder.mkdir()
    assert 8 <= position < 40
    assert load_manifest(folder) == Manifest({})


def test_writes__that_take_a_part_only(index, tmp_path):
    """A system may write less than it was asked to."""
    folder = tmp_path / "index"
    shutil.copytree(index, folder)
    write = os.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
        change(folder)
    assert check(folder) == 3


LIMITED = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
import numpy as np, pyarrow as pa
from neardup.errors import WriteError
from neardup.indexes.segments import SegmentWriter
for kind in ("array", "table"):
    try:
        with SegmentWriter(Path(sys.argv[1]), "big") as writer:
            if kind == "array":
                writer.add("a", np.zeros(10_000))
            else:
                writer.add_table("a", pa.table({"a": np.zeros(10_000)}))
            writer.commit()
    except WriteError as error:
        print(error)
"""


@pytest.mark.slow
@KILLS
def test_full_disk__of_the_system(tmp_path):
    """Not only where we look for it."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", LIMITED, tmp_path], capture_output=True, text=True
    )
    line = f"cannot write {tmp_path}/segments/big: File too large\n"
    assert (result.stdout, result.stderr) == (2 * line, "")
    assert tree(tmp_path) == {}


@KILLS
@pytest.mark.kills
def test_killed__at_any_call(tmp_path):
    command = [sys.executable, "-m", "tests.faults", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout) > 50


@KILLS
@pytest.mark.kills
def test_killed__at_any_moment(tmp_path):
    folder = tmp_path / "index"
    generation = build(folder).generation
    moments = random.Random(4)
    n_changes = 0
    for _ in range(N_KILLS):
        command = [sys.executable, "-m", "tests.indexes", str(folder)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            told = int(process.stdout.readline())
            time.sleep(moments.uniform(0, 0.3))
            process.kill()
            told = int((process.stdout.read().split() or [told])[-1])
        # What was told is there, and at most one more.
        found = check(folder)
        assert found in (told, told + 1)
        n_changes += found - generation
        generation = change(folder).generation
        assert generation == found + 1
        check_names(folder)
    assert n_changes >= N_KILLS


def test_create__killed_before_the_manifest(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("write.lock", "write.lock.holder", ".manifest.json.part"):
        (folder / name).write_text("left")
    create_index(folder, Manifest({}))
    assert check(folder) == 0
    with pytest.raises(OutputExistsError, match="index is an index already; add to it, or"):
        create_index(folder, Manifest({}))
