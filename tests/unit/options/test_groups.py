"""Headings of help: every option of every command has one, and the order is what they say."""

from __future__ import annotations

from neardup.options.commands import COMMANDS, GROUPS, grouped
from tests.each import each_of


def test_groups__name_no_option_twice_and_none_that_is_not_there():
    names = [name for members in GROUPS.values() for name in members]
    assert len(names) == len(set(names))
    assert set(names) <= {option.name for options in COMMANDS.values() for option in options}


@each_of("command", COMMANDS)
def test_grouped__nothing_is_lost(command):
    parts = grouped(COMMANDS[command])
    assert list(parts) == [heading for heading in GROUPS if heading in parts]
    for options in parts.values():
        assert options
    listed = [option for options in parts.values() for option in options]
    assert sorted(map(id, listed)) == sorted(map(id, COMMANDS[command]))


def test_grouped__one_without_a_place_stands_behind_the_one_before_it():
    options = COMMANDS["serve"]
    assert "max_seconds" not in {name for members in GROUPS.values() for name in members}
    listed = grouped(
        [option.but(name="more") if option.name == "max_seconds" else option for option in options]
    )
    assert [option.name for option in listed["Limits"]][:2] == ["max_body", "more"]


def test_grouped__every_option_has_one_heading_in_all_commands():
    headings = {
        (option.name, heading)
        for options in COMMANDS.values()
        for heading, members in grouped(options).items()
        for option in members
    }
    assert len(headings) == len({name for name, _ in headings})


def test_grouped__required_ones_first_then_those_used_most():
    def names(command: str, heading: str) -> list[str]:
        return [option.name for option in grouped(COMMANDS[command])[heading]]

    assert names("dedup", "Input")[:2] == ["text_column", "id_column"]
    assert names("index remove", "Input")[0] == "id_file"
    assert names("align", "Output")[0] == "output"
    assert names("drop", "Input")[0] == "named_in"
    assert names("dedup", "Similarity")[:3] == ["preset", "threshold", "measure"]
