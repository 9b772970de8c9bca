"""Help, versions, and output that nobody or no terminal can take."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys

import click
import pytest

import neardup
from neardup.cli import _COMMANDS, cli
from neardup.cli.command import TableCommand
from neardup.kernels import _compile
from neardup.options.groups import BandOptions
from tests.each import each_of

COMMANDS = list(_COMMANDS)


def command_line(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "neardup", *arguments], capture_output=True, text=True, **options
    )


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
    for name, (_, summary) in _COMMANDS.items():
        assert f"{name} " in outcome.out
        assert summary.split(",")[0] in outcome.out
    assert "Example:" in outcome.out


def test_help__without_arguments(run):
    outcome = run()
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Usage: neardup [OPTIONS] COMMAND [ARGS]...")


def command_at(*names: str) -> click.Command:
    command: click.Command = cli
    for name in names:
        command = command.get_command(click.Context(command), name)
    return command


LEAVES = [
    *((name,) for name in COMMANDS if not isinstance(command_at(name), click.Group)),
    *(("index", name) for name in command_at("index").commands),
]

# What a command cannot have: a seed where an index has one or nothing is hashed, workers where
# there is next to no work.
LACKING = {
    ("search",): {"--seed"},
    ("drop",): {"--seed"},
    ("explain",): {"--seed"},
    ("estimate",): {"--seed"},
    ("report",): {"--seed"},
    ("review",): {"--seed"},
    ("serve",): {"--seed"},
    ("index", "add"): {"--seed"},
    ("index", "compact"): {"--seed"},
    ("index", "remove"): {"--seed", "--workers"},
    ("index", "info"): {"--seed", "--workers", "--quiet"},
    ("plan",): {"--seed", "--workers", "--quiet"},
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
    common = {"--seed", "--workers", "--quiet", "--json"}
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


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["dedupe"], " Did you mean 'dedup'?"),
        (["dedupe", "--help"], " Did you mean 'dedup'?"),
        (["polish"], ""),
    ],
)
def test_help__unknown_command(run, arguments, advice):
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines() == [
        "Usage: neardup [OPTIONS] COMMAND [ARGS]...",
        "Try 'neardup --help' for help.",
        "",
        f"Error: No such command '{arguments[0]}'.{advice}",
    ]


def test_command__says_that_kernels_are_compiled(capsys):
    def call(*, quiet: bool) -> None:
        _compile.announce("why")

    command = TableCommand("call", params=[click.Option(["--quiet"], is_flag=True)], callback=call)
    command.main([], standalone_mode=False)
    assert capsys.readouterr() == ("", "why\n")
    command.main(["--quiet"], standalone_mode=False)
    _compile.announce("to nobody, when no command runs")
    assert capsys.readouterr() == ("", "")


def test_commands__same_options():
    """What decides a result has the same name and default in every command."""
    dedup, plan = (
        {option.name: option for option in cli.get_command(click.Context(cli), name).params}
        for name in ("dedup", "plan")
    )
    assert plan.keys() == {*BandOptions.known, "measure", "threshold", "as_json"} - {"seed"}
    # Without an index, which may decide them for dedup, these are the same.
    decided = {"measure", "threshold"}
    for name in plan.keys() - decided:
        assert plan[name].to_info_dict() == dedup[name].to_info_dict()
    for name in decided:
        assert dedup[name].entry.default is None
        assert dedup[name].entry.usual.partition(";")[0] == plan[name].entry.shown_default
        assert dedup[name].type.to_info_dict() == plan[name].type.to_info_dict()


@pytest.mark.slow
def test_output__of_a_terminal_without_blocks():
    """The chart and names of files come out in any encoding."""
    latin = {"env": {**os.environ, "PYTHONIOENCODING": "latin-1"}, "encoding": "latin-1"}
    result = command_line("plan", **latin)
    assert (result.returncode, result.stderr) == (0, "")
    assert "  1.000  " + "#" * 40 + "  1.0000\n" in result.stdout
    result = command_line("sketch", "ö√.csv", "-o", "x.parquet", **latin)
    assert (result.returncode, result.stderr) == (1, "error: ö\\u221a.csv: no such file\n")


@pytest.mark.slow
def test_output__reader_has_gone():
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", "plan"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads where Linux has them")
@pytest.mark.parametrize("wanted", [None, "2"])
def test_main__no_threads_that_nobody_needs(wanted):
    script = """
import os
from neardup.cli import main
try:
    main(["--version"])
except SystemExit:
    import numpy
    print(len(os.listdir("/proc/self/task")))
"""
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    if wanted is not None:
        environment["OPENBLAS_NUM_THREADS"] = wanted
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    n_cores = len(os.sched_getaffinity(0))
    assert result.stdout.splitlines()[-1] == str(1 if wanted is None else min(2, n_cores))


def test_help__options_under_headings(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = run("dedup", "--help").out
    parts = dict(re.findall(r"(?m)^(\w+):\n((?:  .*\n)+)", text))
    headings = ["Input", "Text", "Similarity", "Sketches", "Choice", "Output", "Running"]
    assert list(parts) == headings
    assert parts["Running"].splitlines()[-1].startswith("  -h, --help  ")
    # What options do stands in one column, whatever their heading.
    columns = {len(name) for name in re.findall(r"(?m)^(  -.*?  +)[A-Z]", text)}
    assert columns == {34}


def test_help__narrow_where_names_are_short(run):
    text = run("index", "remove", "--help").out
    assert re.findall(r"(?m)^  -.*?  +(?=\S)", text) == [
        *("  --ids FILE  ", "  --deny      ", "  --json      ", "  --quiet     ", "  -h, --help  ")
    ]


@each_of("option", ["where", "keep"])
def test_commands__a_condition_is_given_once(run, option):
    outcome = run("dedup", "in.jsonl", "-o", "out", f"--{option}", "first", f"--{option}=longest")
    assert outcome.code == 2
    assert f"--{option} is given twice, and takes one value; " in outcome.err


@each_of("second", ["-o", "--output"])
def test_commands__an_output_is_given_once(run, tmp_path, second):
    path = tmp_path / "rows.txt"
    path.write_text("a b c d e f\n" * 3)
    files = [tmp_path / "e.csv", tmp_path / "e.jsonl"]
    outcome = run("align", path, "--lines", "-o", files[0], second, files[1])
    assert outcome.code == 2
    assert "is given twice, and takes one value; name one, and run the command again" in outcome.err
    assert not any(file.exists() for file in files)


@pytest.mark.parametrize("command", ["pairs", "sketch"])
def test_commands__name_their_jobs_in_the_log(run, caplog, tmp_path, command):
    path = tmp_path / "rows.txt"
    path.write_text("a b c d e f\n" * 3)
    with caplog.at_level(logging.INFO, "neardup"):
        assert run(command, path, "--lines", "-o", tmp_path / "out.parquet").code == 0
    [job] = {record.job for record in caplog.records}
    assert re.fullmatch(f"{command}-[0-9a-f]{{8}}", job)
