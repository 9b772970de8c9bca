"""Headings of help: every option of every command has one, and the order is what they say."""

from __future__ import annotations

from neardup.options.commands import COMMANDS, GROUPS, grouped
from tests.each import each_of


def test_groups__every_option_of_the_command_line_once():
    names = [name for members in GROUPS.values() for name in members]
    assert len(names) == len(set(names))
    assert set(names) == {option.name for options in COMMANDS.values() for option in options}


@each_of("command", COMMANDS)
def test_grouped__nothing_is_lost(command):
    parts = grouped(COMMANDS[command])
    assert list(parts) == [heading for heading in GROUPS if heading in parts]
    for heading, options in parts.items():
        assert options
        assert {option.name for option in options} <= set(GROUPS[heading])
    listed = [option for options in parts.values() for option in options]
    assert sorted(map(id, listed)) == sorted(map(id, COMMANDS[command]))


def test_grouped__required_ones_first_then_those_used_most():
    def names(command: str, heading: str) -> list[str]:
        return [option.name for option in grouped(COMMANDS[command])[heading]]

    assert names("dedup", "Input")[:2] == ["text_column", "id_column"]
    assert names("index remove", "Input")[0] == "id_file"
    assert names("align", "Output")[0] == "output"
    assert names("drop", "Input")[0] == "named_in"
    assert names("dedup", "Similarity")[:2] == ["threshold", "measure"]
