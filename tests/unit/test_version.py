"""Extras are added to what is installed, from where it came."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

from neardup.version import pip_install
from tests.each import each_of


class Installed:
    """What a package manager has noted of an installation."""

    def __init__(self, **origin: object) -> None:
        self.origin = json.dumps(origin) if origin else None

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.origin


@pytest.fixture
def installed(monkeypatch):
    def install(**origin: object) -> None:
        monkeypatch.setattr(metadata, "distribution", lambda name: Installed(**origin))

    return install


def test_pip_install__from_the_index(installed):
    installed()
    assert pip_install("pages") == "pip install 'neardup[pages]'"


def test_pip_install__where_nothing_is_installed(monkeypatch):
    def find(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", find)
    assert pip_install("xlsx") == "pip install 'neardup[xlsx]'"


@each_of(
    ("editable", "option"),
    [({"editable": True}, "--editable "), ({"editable": False}, ""), ({}, "")],
)
def test_pip_install__from_a_clone(installed, tmp_path, editable, option):
    clone = tmp_path / "a clone's"
    clone.mkdir()
    installed(url=clone.as_uri(), dir_info=editable)
    expected = f"{clone}[pages]".replace("'", "'\"'\"'")
    assert pip_install("pages") == f"pip install {option}'{expected}'"


def test_pip_install__from_a_file_and_from_what_has_gone(installed, tmp_path):
    wheel = tmp_path / "neardup-0.1.0-py3-none-any.whl"
    wheel.touch()
    installed(url=wheel.as_uri(), archive_info={})
    assert pip_install("serve") == f"pip install '{wheel}[serve]'"
    wheel.unlink()
    assert pip_install("serve") == "pip install 'neardup[serve]'"
    installed(url="https://example.org/neardup.git", vcs_info={"vcs": "git"})
    assert pip_install("serve") == "pip install 'neardup[serve]'"


def test_pip_install__of_this_installation_names_a_place_that_exists():
    named = pip_install("jit").removeprefix("pip install ").removeprefix("--editable ")
    place = named.strip("'").removesuffix("[jit]")
    assert place == "neardup" or Path(place).exists()
