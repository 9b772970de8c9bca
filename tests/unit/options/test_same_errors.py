"""The same mistakes are the same error from the command and the function."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

import neardup
import neardup.cli
from neardup.cli.command import spell_options
from neardup.errors import InvalidParameterError
from tests.calls import grouped

ROWS = [{"text": "one two three"}, {"text": "four five six"}]
OTHER = [{"text": "one two three"}]

_READING = [
    {"ngram": 0},
    {"tokenizer": "nonsense"},
    {"tokenizer": "bytes", "casefold": True},
]
_BANDS = [{"bands": "20"}, {"bands": "20x10"}, {"recall": "1.5"}, {"num_perm": 0}]
_WEIGHTS = [
    {"tf": "raw"},
    {"idf": "smooth"},
    {"measure": "weighted-jaccard", "occurrences": "numbered"},
]
_AGAINST = [{"against_id_column": "key"}, {"against_text_column": "body"}]

# What each job refuses, whatever its documents are; each is a mistake on its own. Words that are
# none of a few are not among them: with these the command line ends before any command.
MISTAKES = {
    "dedup": [
        *(_READING + _BANDS + _WEIGHTS + _AGAINST),
        {"threshold": "80"},
        {"threshold": "0.0001"},
        {"keep": "best"},
        {"method": "exact", "audit": 5},
        {"method": "exact", "seed": 1},
        {"method": "exact", "recall": "0.9"},
        {"add": True},
    ],
    "pairs": [
        *(_READING + _BANDS + _WEIGHTS + _AGAINST),
        {"threshold": "80"},
        {"max_distance": 2, "threshold": "0.5"},
        {"measure": "overlap"},
        {"per_document": True},
        {"measure": "weighted-jaccard", "method": "ppjoin"},
        {"seed": 3},
        {"memory": "much"},
    ],
    "align": [
        *(_READING + _AGAINST),
        {"threshold": "80"},
        {"within": True},
        {"min_tokens": 0},
        {"max_documents": "0%"},
    ],
    "cut": [
        *(_READING + _AGAINST),
        {"threshold": "80"},
        {"exact": True, "threshold": "0.5"},
        {"exact": True, "recall": "0.9"},
        {"keep": "best"},
        {"min_documents": 0},
    ],
    "sketch": [
        *_READING,
        {"kind": "smallest", "num_perm": 8},
        {"kind": "minhash", "modulus": 8},
        {"kind": "edit", "size": 8},
        {"kind": "minhash", "tf": "raw"},
        {"kind": "edit", "ngram": 3},
    ],
}
OUTPUTS = dict.fromkeys(MISTAKES, "out") | {
    "pairs": "out.csv",
    "align": "out.jsonl",
    "sketch": "out.parquet",
}
FUNCTIONS = {
    "dedup": neardup.deduplicate,
    "pairs": neardup.find_pairs,
    "align": neardup.align,
    "cut": neardup.cut,
    "sketch": neardup.sketch,
}
# No mistake if there is another collection, or if there is none.
OF_AGAINST = {"against_id_column", "against_text_column"}
OF_ONE = {"within"}


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("neardup.kernels._compile.announce", lambda _: None)
    for name, rows in (("in.jsonl", ROWS), ("other.jsonl", OTHER)):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def command_of(job):
    with click.Context(neardup.cli.cli) as context:
        return neardup.cli.cli.get_command(context, job)


def said_by_command(job, options, *more, has_other, capsys):
    flags = {parameter.name: parameter.opts[-1] for parameter in command_of(job).params}
    argv = [job, "in.jsonl", "-o", OUTPUTS[job], *more]
    argv += ["--against", "other.jsonl"] if has_other else []
    for name, value in options.items():
        argv += [flags[name]] if value is True else [flags[name], str(value)]
    code = neardup.cli.run(argv)
    said = capsys.readouterr().err
    assert code == 1, (argv, said)
    return said.splitlines()[-1].removeprefix("error: ")


def said_by_function(job, options, *, has_other):
    """Return what the function says, with the names that the command has."""
    against = {"against": "other.jsonl"} if has_other else {}
    with pytest.raises(InvalidParameterError) as caught:
        FUNCTIONS[job]("in.jsonl", **against, **grouped(**options))
    message = str(caught.value).replace("align data alone", "align INPUT alone")
    named = caught.value.parameters
    return spell_options(InvalidParameterError(message, *named), command_of(job))


def both_ways(job, options):
    """Yield whether there is another collection, where options are a mistake.

    Options that only Python has are skipped.
    """
    if not options.keys() <= {parameter.name for parameter in command_of(job).params}:
        return
    if not options.keys() <= OF_ONE:
        yield False
    if job != "sketch" and not options.keys() <= OF_AGAINST:
        yield True


def check(job, options, capsys):
    for has_other in both_ways(job, options):
        said = said_by_command(job, options, has_other=has_other, capsys=capsys)
        assert said == said_by_function(job, options, has_other=has_other), options


@pytest.mark.parametrize("job", MISTAKES)
def test_mistake__is_the_same_error(job, inputs, capsys):
    for options in MISTAKES[job]:
        check(job, options, capsys)


@pytest.mark.parametrize("job", ["pairs", "align", "dedup", "cut"])
def test_mistakes__which_comes_first(job, inputs, capsys):
    """With a column of a collection that is not there, which is checked last of all."""
    for options in MISTAKES[job]:
        if not options.keys() & OF_AGAINST and list(both_ways(job, options)):
            together = options | {"against_id_column": "key"}
            said = said_by_command(job, together, has_other=False, capsys=capsys)
            assert said == said_by_function(job, together, has_other=False), options
