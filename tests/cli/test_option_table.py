"""Every option of every command: what is no value of it ends the command before any work."""

from __future__ import annotations

import pytest

from neardup.options.kinds import Choice, Share, TokenizerName, Whole
from neardup.options.option import Option
from tests.cli.every_command import ARGUMENTS, write_inputs
from tests.commands import COMMANDS


def refused(option: Option) -> list[str]:
    """List values that are of the option's type, and out of its range."""
    match option.kind:
        case Whole():
            values = [] if option.kind.least is None else [str(option.kind.least - 1)]
            return values + ([] if option.kind.most is None else [str(option.kind.most + 1)])
        case Share():
            return ["0", "1.5", "abc", "nan"]
        case TokenizerName():
            return ["nonsense"]
    return []


def misspelt(option: Option) -> list[str]:
    """List values that are not of the option's type."""
    match option.kind:
        case Whole():
            return ["2.5", "many"]
        case Choice():
            return ["nonsense"]
    return []


def cases(values, command: str) -> list[tuple[Option, str]]:
    return [(option, value) for option in COMMANDS[command] for value in values(option)]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Make what the commands work on."""
    folder = tmp_path_factory.mktemp("options")
    write_inputs(folder)
    return folder


@pytest.fixture
def in_folder(inputs, monkeypatch, read_tree):
    """Work among the inputs, and look that nothing is left or changed there."""
    monkeypatch.chdir(inputs)
    before = read_tree(inputs)
    yield
    assert read_tree(inputs) == before


def test_commands__all_there():
    assert ARGUMENTS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_option__out_of_range_before_inputs(run, here, command):
    """Nothing that the command names is there: the option comes first."""
    for option, value in cases(refused, command):
        flag = option.spelling[-1]
        outcome = run(*ARGUMENTS[command].split(), f"{flag}={value}")
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.startswith(f"error: {flag} must ")
        assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_option__of_the_wrong_type(run, in_folder, command):
    for option, value in cases(misspelt, command):
        flags = " / ".join(f"'{flag}'" for flag in option.spelling)
        flag = option.spelling[-1]
        arguments = ARGUMENTS[command].split()
        if flag in arguments:
            del arguments[(i := arguments.index(flag)) : i + 2]
        outcome = run(*arguments, f"{flag}={value}")
        assert (outcome.code, outcome.out) == (2, "")
        assert f"Error: Invalid value for {flags}: '{value}' is not " in outcome.err
