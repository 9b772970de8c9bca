"""Help, versions, ``neardup plan``, and what else does not need a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import click
import pytest

import neardup
from neardup.cli import _COMMANDS, cli

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
    ("estimate",): {"--seed"},
    ("index", "add"): {"--seed"},
    ("index", "compact"): {"--seed"},
    ("index", "remove"): {"--seed", "--workers"},
    ("index", "info"): {"--seed", "--workers", "--quiet"},
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


@pytest.mark.parametrize("arguments", [["dedupe"], ["dedupe", "--help"]])
def test_help__unknown_command(run, arguments):
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines() == [
        "Usage: neardup [OPTIONS] COMMAND [ARGS]...",
        "Try 'neardup --help' for help.",
        "",
        "Error: No such command 'dedupe'.",
    ]


def test_commands__same_options():
    """What decides a result has the same name and default in every command."""
    dedup, plan = (
        {option.name: option for option in cli.get_command(click.Context(cli), name).params}
        for name in ("dedup", "plan")
    )
    only = {"output", "against", "keep", "clusters", "method", "audit"}
    only |= {"output_format", "overwrite"}
    assert dedup.keys() - plan.keys() == only
    assert plan.keys() <= dedup.keys()
    for name in plan.keys() - {"inputs"}:
        assert plan[name].to_info_dict() == dedup[name].to_info_dict()


def test_plan__without_input(run):
    outcome = run("plan")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "16 bands of 6 rows, 96 hash functions"
    assert lines[1] == "a pair at jaccard 0.8 is compared with probability 0.9923"
    assert lines[2:4] == ["", "Jaccard  probability that a pair is compared"]
    curve = [line.split() for line in lines[4:]]
    assert [float(words[0]) for words in curve] == [i / 20 for i in range(2, 21)]
    [marked] = [line for line in lines if line.endswith("<- threshold")]
    assert marked.startswith("  0.800  ")
    assert "0.9923" in marked
    assert max(len(line) for line in lines) <= 80


def test_plan__json(run):
    outcome = run("plan", "--json", "--bands", 20, "--rows", 5, "--threshold", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    facts = json.loads(outcome.out)
    expected = 1 - (1 - 0.7**5) ** 20
    assert facts["predicted_recall"] == pytest.approx(expected)
    assert (facts["bands"], facts["rows"], float(facts["threshold"])) == (20, 5, 0.7)
    for point in facts["curve"]:
        assert point["probability"] == pytest.approx(1 - (1 - point["jaccard"] ** 5) ** 20)
    assert "estimate" not in facts


@pytest.mark.parametrize(
    ("measure", "threshold", "least"),
    [
        ("dice", "0.8", 0.8 / 1.2),
        ("cosine", "0.9", 0.81),
        ("containment", "0.9", 0.9 / 2.1),
        ("max-containment", "0.9", 0.9 / 2.1),
    ],
)
def test_plan__other_measures(run, measure, threshold, least):
    outcome = run("plan", "--measure", measure, "--threshold", threshold)
    assert f"such a pair has a Jaccard similarity of at least {least:.3f}\n" in outcome.out
    condition = "if one document is at most twice as large as the other\n"
    assert (condition in outcome.out) == ("containment" in measure)
    facts = json.loads(run("plan", "--measure", measure, "--threshold", threshold, "--json").out)
    assert facts["least_jaccard"] == pytest.approx(least)
    assert facts["predicted_recall"] >= 0.99


def test_plan__with_input(run, here, texts, write_texts):
    write_texts("a.jsonl", texts)
    write_texts("b.csv", texts[:10])
    outcome = run("plan", "a.jsonl", "b.csv", "--threshold", "0.7")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"\n{len(texts) + 10} documents, " in outcome.out
    for what in ("similar pairs", "false candidates", "memory", "disk", "time"):
        assert f"\n  {what} " in outcome.out
    assert sorted(path.name for path in here.iterdir()) == ["a.jsonl", "b.csv"]


def test_plan__estimate(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    estimate = json.loads(run("plan", "a.jsonl", "--json").out)["estimate"]
    assert estimate["documents"] == len(texts)
    assert estimate["text_bytes"] == sum(len(text.encode()) for text in texts)
    # A group of an original, its two copies, and two that are nearly that: ten pairs each.
    assert 60 <= estimate["pairs_similar"] <= 140
    low, high = estimate["memory_bytes"]
    assert 0 < low <= high
    assert estimate["disk_bytes"] > 0


@pytest.mark.parametrize("content", ["", '{"text": ""}\n', '{"text": "one"}\n'])
def test_plan__hardly_any_input(run, write_file, content):
    write_file("a.jsonl", content)
    outcome = run("plan", "a.jsonl", "--json")
    assert outcome.code == 0
    estimate = json.loads(outcome.out)["estimate"]
    assert (estimate["documents"], estimate["pairs_similar"]) == (content.count("\n"), 0)


def test_plan__quiet(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    outcome = run("plan", "a.jsonl", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_plan__predicts_what_dedup_does(run, texts, write_texts):
    write_texts("a.jsonl", texts)
    options = ("--threshold", "0.65", "--recall", "0.97", "--num-perm", 200, "--json")
    plan = json.loads(run("plan", *options).out)
    summary = json.loads(run("dedup", "a.jsonl", "-o", "out", *options).out)
    for name in ("bands", "rows", "predicted_recall", "threshold", "measure", "recall"):
        assert plan[name] == summary[name]


def test_output__of_a_terminal_without_blocks():
    """The chart and names of files come out in any encoding."""
    latin = {"env": {**os.environ, "PYTHONIOENCODING": "latin-1"}, "encoding": "latin-1"}
    result = command_line("plan", **latin)
    assert (result.returncode, result.stderr) == (0, "")
    assert "  1.000  " + "#" * 40 + "  1.0000\n" in result.stdout
    result = command_line("plan", "ö√.csv", **latin)
    assert (result.returncode, result.stderr) == (1, "error: ö\\u221a.csv: no such file\n")


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


def test_plan__weights(run, write_file):
    rows = [f'{{"text": "all of us say {word} {word} and again {word}"}}' for word in "abcd" * 5]
    write_file("a.jsonl", "\n".join(rows) + "\n")
    outcome = run("plan", "a.jsonl", "--json", "--measure", "weighted-jaccard", "--idf", "standard")
    assert (outcome.code, outcome.err) == (0, "")
    facts = json.loads(outcome.out)
    assert (facts["measure"], facts["least_jaccard"]) == ("weighted-jaccard", 0.8)
    # Words that all documents have weigh nothing: only equal texts are similar.
    assert facts["estimate"]["pairs_similar"] == 4 * (5 * 4 / 2)
    unary = run("plan", "a.jsonl", "--json", "--measure", "weighted-jaccard", "--idf", "unary")
    assert json.loads(unary.out)["estimate"]["documents"] == 20
