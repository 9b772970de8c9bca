"""Options of ``neardup.toml``, repeatable ones and from a working directory that is gone."""

from __future__ import annotations

import pytest

from neardup.cli.configuration import find_file, read_settings
from neardup.errors import InvalidInputError


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "value"), [("'a'", ["a"]), ("['a']", ["a"]), ("['a', 'b c']", ["a", "b c"])]
)
def test_repeatable_option__list_or_one_value(here, text, value):
    (here / "neardup.toml").write_text(f"text-column = {text}\n")
    assert read_settings(("dedup",), find_file()) == {"text_column": value}


def test_repeatable_option__each_value_is_checked(here):
    (here / "neardup.toml").write_text("[dedup]\ntext-column = ['a', 1]\n")
    error = "neardup.toml: dedup.text-column must be the name of a column or a list of names, got 1"
    with pytest.raises(InvalidInputError, match=f"^{error}$"):
        read_settings(("dedup",), find_file())


def test_working_folder_that_is_gone(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert find_file() is None
    monkeypatch.chdir(tmp_path)
