"""What every command does alike: what it prints, --quiet, --json and --document line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from neardup.options.groups import InputOptions, PrintOptions
from neardup.options.option import Option
from neardup.runs.disk import LockedFolder
from neardup.runs.runner import Runner
from tests.cli.every_command import ARGUMENTS, write_inputs
from tests.commands import COMMANDS
from tests.docs.pages import page, section

N_LINES = 7


def having(option: Option) -> list[str]:
    """Name the commands that have an option."""
    return [
        command
        for command, options in COMMANDS.items()
        if option.name in {listed.name for listed in options}
    ]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    lines = [f"line {number} of the file\n" for number in range(N_LINES)]
    (folder / "lines.txt").write_text("".join(lines))
    return folder


@pytest.fixture
def run_anew(run, inputs, tmp_path, monkeypatch):
    """Run a command in a new copy of the inputs, which must end well."""

    def run_command(*arguments: str) -> tuple[str, str]:
        number = len(list(tmp_path.iterdir()))
        monkeypatch.chdir(shutil.copytree(inputs, tmp_path / str(number)))
        outcome = run(*arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out, outcome.err

    return run_command


@contextmanager
def held(target: Path) -> Iterator[None]:
    """Hold an output as another run does."""
    folder = LockedFolder(target.with_name(f".{target.name}.neardup-progress"))
    folder.enter()
    yield
    folder.remove()


WRITES = [line for line in ARGUMENTS.values() if " -o " in line or line.startswith("index build")]
WRITES.append(f"{ARGUMENTS['compare']} --report page.html")


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]], ids=["new", "overwrite"])
@pytest.mark.parametrize("line", WRITES)
def test_output__of_another_run(run_anew, run, line, overwrite):
    arguments = line.split()
    output = arguments[2 if "build" in arguments else -1]
    # In a new copy of the inputs.
    run_anew("plan")
    if overwrite:
        assert run(*arguments).code == 0
    before = set(Path().iterdir())
    with held(Path(output)), pytest.MonkeyPatch.context() as patch:
        # No work is done in vain.
        patch.setattr(Runner, "stage", None)
        outcome = run(*arguments, *overwrite)
    assert (outcome.code, outcome.out) == (1, "")
    assert re.fullmatch(
        f"error: {output} is being written by this process, since .*; wait until that is done, "
        "end it, or choose another name\n",
        outcome.err,
    )
    assert set(Path().iterdir()) == before
    assert run(*arguments, *overwrite).code == 0
    assert {path.name for path in Path().iterdir()} >= {output}
    assert not list(Path().glob(".*"))


@pytest.mark.parametrize("command", COMMANDS)
def test_command__says_what_it_did(run_anew, command):
    out, _ = run_anew(*ARGUMENTS[command].split())
    assert out.strip()


@pytest.mark.parametrize("command", having(PrintOptions.known["quiet"]))
def test_quiet__prints_nothing(run_anew, command):
    assert run_anew(*ARGUMENTS[command].split(), "--quiet") == ("", "")


@pytest.mark.parametrize("command", having(PrintOptions.known["json"]))
def test_json__is_one_object_also_with_quiet(run_anew, command):
    arguments = [*ARGUMENTS[command].split(), "--json"]
    found, _ = run_anew(*arguments)
    assert isinstance(json.loads(found), dict)
    assert found.count("\n") == 1
    if command in having(PrintOptions.known["quiet"]):
        out, err = run_anew(*arguments, "--quiet")
        assert (json.loads(out).keys(), err) == (json.loads(found).keys(), "")


@pytest.mark.parametrize("command", having(PrintOptions.known["json"]))
def test_json__keys_are_in_the_page(run_anew, command):
    """Each key is named in a section on the command, on its group, or on keys of all."""
    out, _ = run_anew(*ARGUMENTS[command].split(), "--json")
    sections = re.split(r"(?m)^## neardup ", page("docs/command-line.md"))[1:]
    parts = [part.split("\n## ")[0] for part in sections if part.split()[0] == command.split()[0]]
    parts.append(section("docs/command-line.md", "Keys of summaries"))
    options = {option.name for option in COMMANDS[command]}
    assert set(json.loads(out)) - options <= set(re.findall(r"`(\w+)`", "".join(parts)))


# These count rows of a result, or nothing; texts are looked at in their own tests.
@pytest.mark.parametrize(
    "command", sorted({*having(InputOptions.known["document"])} - {"report", "review"})
)
def test_lines__are_a_document_each(run_anew, command):
    arguments = [*ARGUMENTS[command].replace("in.jsonl", "lines.txt").split(), "--json"]
    of_file, of_lines = (
        dict(numbers(json.loads(run_anew(*arguments, *more)[0])))
        for more in ([], ["--document", "line"])
    )
    assert any(of_file.get(place) == 1 and n == N_LINES for place, n in of_lines.items())


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, int]]:
    """Give the whole numbers within a value of JSON, each with its place."""
    if isinstance(value, int):
        yield place, value
    elif isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in parts:
            yield from numbers(part, f"{place}/{name}")
