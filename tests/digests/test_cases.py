"""Every command, its help and every public function is recorded."""

from __future__ import annotations

from neardup.cli import COMMANDS as DESCRIPTIONS
from tests.commands import COMMANDS
from tests.digests import corpora, passages, real, record, refusals, sketches, snippets
from tests.digests.run import Neardup
from tests.each import each_of
from tests.functions import CLASSES

CASES = [*corpora.COMMANDS, *passages.COMMANDS, *sketches.COMMANDS]
STEPS = [step for case in CASES for step in case.split(" ; ")]


def test_cases__are_listed_once():
    record.check_differ([*CASES, *refusals.COMMANDS, *real.COMMANDS])


@each_of("command", COMMANDS)
def test_command__is_recorded(command):
    assert any(step == command or step.startswith(f"{command} ") for step in STEPS)


@each_of("command", sorted({*DESCRIPTIONS, *COMMANDS}))
def test_help__is_recorded(command):
    assert f"{command} --help" in refusals.HELP


@each_of("command", list(COMMANDS))
def test_command__runs_with_the_threads_asked_for(command):
    words = Neardup(("neardup",), workers=3).arguments(command.split())
    assert ("--workers" in words) == ("workers" in {option.name for option in COMMANDS[command]})


@each_of("name", CLASSES)
def test_function__is_recorded(name):
    call = f".{name.rpartition('.')[2]}("
    assert any(call in snippet for snippet in [snippets.SETUP, *snippets.SNIPPETS])
