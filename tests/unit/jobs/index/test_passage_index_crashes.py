"""A command that is killed while it changes an index leaves the index before it or after it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from neardup import ReadOptions, RunOptions
from tests.calls import grouped
from tests.faults import in_child, kill_writers, load_passages
from tests.indexes import tree

ROOT = Path(__file__).parents[4]
# A number of kills of one's own for a thorough look.
N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "3")) * 5
KILLS = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
OPTIONS = {"min_tokens": 4, "num_perm": 8, "tokenizer": "whitespace"}


def documents(number: int) -> dict[str, str]:
    """Give the documents that are added as the ``number``-th."""
    generator = random.Random(number)
    words = [f"w{i}" for i in range(9)]
    return {f"{number}-{i}": " ".join(generator.choices(words, k=20)) for i in range(3)}


def live(generation: int) -> dict[str, str]:
    """Give what an index holds: three are added, one is removed, then it is compacted."""
    found: dict[str, str] = {}
    for number in range(1, generation + 1):
        match number % 3:
            case 1:
                found |= documents(number)
            case 2:
                del found[f"{number - 1}-1"]
                found.pop(f"{number - 4}-0", None)
                found.pop(f"{number - 4}-2", None)
    return found


def change(folder: Path, generation: int) -> None:
    """Run the command that leads to a generation."""
    from neardup.cli import run

    match generation % 3:
        case 1:
            file = folder.parent / "new.jsonl"
            rows = [{"id": name, "text": text} for name, text in documents(generation).items()]
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
            arguments = ["add", folder, file, "--id-column", "id", "--workers", "1", "--quiet"]
        case 2:
            gone = live(generation - 1).keys() - live(generation).keys()
            arguments = ["remove", folder, *sorted(gone), "--quiet"]
        case _:
            arguments = ["compact", folder, "--workers", "1", "--quiet"]
    assert run(["index", *map(str, arguments)]) == 0


def change_on(folder: Path, told: Path) -> None:
    """Change an index until killed; note each change that is done."""
    from neardup.index.store import read_manifest

    generation = read_manifest(folder).generation
    while True:
        generation += 1
        change(folder, generation)
        tell(told, generation)


def tell(told: Path, generation: int) -> None:
    """Replace the text as a whole, because the process may be killed here, too."""
    part = told.with_suffix(".part")
    part.write_text(str(generation))
    part.replace(told)


def check(folder: Path, told: Path) -> None:
    """See that the index is as some change left it, then make the next one."""
    from neardup import PassageIndex
    from neardup.index.store import read_manifest

    generation = read_manifest(folder).generation
    assert generation - int(told.read_text()) in (0, 1)
    compare(folder, generation)
    change(folder, generation + 1)
    compare(folder, generation + 1)
    tell(told, generation + 1)
    # Nothing is left of the killed command but the lock that nobody holds.
    manifest = read_manifest(folder)
    names = [name for name in tree(folder) if name.startswith("segments/")]
    assert {name.split("/")[1] for name in names} == {s.name for s in manifest.segments}
    assert len(PassageIndex.open(folder)) == len(live(generation + 1))


def compare(folder: Path, generation: int) -> None:
    """Compare the answers with those of an index that was built in one go."""
    from neardup import PassageIndex

    rows = [{"id": name, "text": text} for name, text in live(generation).items()]
    queries = [" ".join(row["text"].split()[3:11]) for row in rows]
    with tempfile.TemporaryDirectory() as place:
        fresh = PassageIndex.create(place, **grouped(**OPTIONS))
        fresh.add(rows, read=ReadOptions(id_column="id"), run=RunOptions(workers=1))
        found, expected = (
            index.search(queries, "0.7", recall="0.8", run=RunOptions(workers=1)).passages
            for index in (PassageIndex.open(folder), fresh)
        )
        assert found.equals(expected)
        assert len(found) >= len(rows)


def kill_at_random(folder: Path, n_kills: int) -> None:
    """Kill writers at random moments; this process starts no threads, for it forks."""
    # A child that has to load it all would be killed before it had.
    load_passages()
    index, told = folder / "index", folder / "told"
    told.write_text("0")
    in_child(lambda: create(index))
    kill_writers(n_kills, lambda: change_on(index, told), lambda: check(index, told))
    print(told.read_text())  # noqa: T201


def create(folder: Path) -> None:
    from neardup import PassageIndex

    PassageIndex.create(folder, **grouped(**OPTIONS))


@KILLS
@pytest.mark.kills
def test_killed__commands_at_any_moment(tmp_path):
    module = "tests.unit.jobs.index.test_passage_index_crashes"
    command = [sys.executable, "-m", module, str(tmp_path), str(N_KILLS)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    # More than the one after each kill that shows that the index still works.
    assert int(result.stdout) > 1.2 * N_KILLS


if __name__ == "__main__":
    kill_at_random(Path(sys.argv[1]), int(sys.argv[2]))
