"""Help, versions, and output that nobody or no terminal can take."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

import neardup
from neardup.cli import COMMANDS as DESCRIPTIONS
from neardup.cli import cli
from neardup.options.groups import BandOptions

COMMANDS = list(DESCRIPTIONS)


def command_line(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "neardup", *arguments], capture_output=True, text=True, **options
    )


@pytest.mark.parametrize("module", ["neardup.cli", "click", "neardup.runs.disk", "numpy"])
def test_interrupt__while_the_command_line_is_loaded(tmp_path, module):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Interrupt:\n"
        "    @staticmethod\n"
        "    def find_spec(name, *_):\n"
        f"        if name == {module!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    result = command_line("plan", env={**os.environ, "PYTHONPATH": path})
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == "interrupted\n"


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "cli._TerminatedError", "ValueError"])
def test_interrupt__while_an_object_is_destroyed(error):
    script = (
        "from neardup import cli\n"
        "class Destroyed:\n"
        "    def __del__(self):\n"
        f"        raise {error}\n"
        "cli.run = lambda _: len([Destroyed()]) - 1\n"
        "cli.main()\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0
    assert ("Traceback" in result.stderr) == (error == "ValueError")


def test_version(run):
    outcome = run("--version")
    version = f"neardup, version {neardup.__version__}\n"
    assert (outcome.code, outcome.out, outcome.err) == (0, version, "")
    result = command_line("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, version, "")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help__of_the_group(run, arguments):
    outcome = run(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    for name, (_, summary) in DESCRIPTIONS.items():
        assert f"{name} " in outcome.out
        assert summary.split(",")[0] in outcome.out
    assert "Example:" in outcome.out


def command_at(*names: str) -> click.Command:
    command: click.Command = cli
    for name in names:
        command = command.get_command(click.Context(command), name)
    return command


LEAVES = [
    *((name,) for name in COMMANDS if not isinstance(command_at(name), click.Group)),
    *(("index", name) for name in command_at("index").commands),
]

# Commands with next to no work have no workers; commands that print alone are never quiet.
LACKING = {
    ("index", "remove"): {"--workers"},
    ("index", "info"): {"--workers", "--quiet"},
    ("plan",): {"--workers", "--quiet"},
}


@pytest.mark.parametrize("names", LEAVES, ids=" ".join)
def test_help__lists_every_option(run, names):
    outcome = run(*names, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"Usage: neardup {' '.join(names)} " in outcome.out
    options = [p for p in command_at(*names).params if isinstance(p, click.Option)]
    listed = {word.strip(",") for word in outcome.out.split() if word.startswith("-")}
    for option in options:
        assert {*option.opts, *option.secondary_opts} <= listed
        assert option.help
    common = {"--workers", "--quiet", "--json"}
    assert common - listed == LACKING.get(names, set())


@pytest.mark.parametrize("name", COMMANDS)
def test_help__examples(run, name):
    outcome = run(name, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    examples = outcome.out.partition("Examples:\n")[2].strip().splitlines()
    assert len(examples) >= 2
    for example in examples:
        program, *arguments = example.split()
        assert program == "neardup"
        assert arguments.pop(0) == name
        command = command_at(name)
        if isinstance(command, click.Group):
            command = command_at(name, arguments.pop(0))
        # Options and values in the example exist.
        command.make_context(name, arguments)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help__lists_no_arguments(run, monkeypatch, flag):
    """From version 8.5, click has a line of help for each argument."""
    monkeypatch.setattr(click.Argument, "get_help_record", lambda self, _: (self.metavar, ""))
    assert run("dedup", flag).out.count("INPUT...") == 1


def test_help__is_named_by_errors_of_usage(run):
    assert "Try 'neardup dedup -" in run("dedup", "a.jsonl", "--fast").err


@pytest.mark.parametrize("arguments", [["dedupe"], ["dedupe", "--help"]])
def test_help__unknown_command(run, arguments):
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines() == [
        "Usage: neardup [OPTIONS] COMMAND [ARGS]...",
        "Try 'neardup --help' for help.",
        "",
        f"Error: No such command '{arguments[0]}'.",
    ]


def test_commands__same_options():
    """What decides a result has the same name and default in every command."""
    commands = [cli.get_command(click.Context(cli), name) for name in ("dedup", "plan")]
    dedup, plan = ({option.name: option for option in each.params} for each in commands)
    of_dedup, of_plan = (each.entries for each in commands)
    assert plan.keys() == {*BandOptions.known, "measure", "threshold", "json"} - {"seed"}
    # Without an index, which may decide them for dedup, these are the same.
    decided = {"measure", "threshold"}
    for name in plan.keys() - decided:
        assert plan[name].to_info_dict() == dedup[name].to_info_dict()
    for name in decided:
        assert of_dedup[name].default is None
        assert of_dedup[name].usual.partition(";")[0] == of_plan[name].shown_default
        assert dedup[name].type.to_info_dict() == plan[name].type.to_info_dict()
