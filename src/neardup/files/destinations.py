"""Where an output's files go: the one thing that writers of formats know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import BinaryIO


class Destination(ABC):
    """A file or a folder to be written; ``str`` is what errors call it."""

    @abstractmethod
    def __truediv__(self, name: str) -> Destination:
        """Return the place of a file or folder below."""

    @abstractmethod
    def make_folder(self) -> None:
        """Make it a folder, where folders are there without files in them."""

    @abstractmethod
    def create(self) -> BinaryIO:
        """Open it as a new file; folders on the way are created, an existing file is replaced."""

    @abstractmethod
    def into_folder(self, name: str) -> None:
        """Turn the file that is there into a folder, in which it has this name."""

    def write_text(self, text: str) -> None:
        """Write a text, its ends of lines as they are."""
        with self.create() as file:
            file.write(text.encode())


class LocalDestination(Destination):
    """A path of the local file system."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __truediv__(self, name: str) -> LocalDestination:
        return LocalDestination(self._path / name)

    def __str__(self) -> str:
        return str(self._path)

    def make_folder(self) -> None:
        """Make the folder and those on the way."""
        _make_folders(self._path)

    def into_folder(self, name: str) -> None:
        """Move the file aside, for a moment, to make room for the folder."""
        aside = self._path.with_name(f".{self._path.name}.{name}")
        self._path.rename(aside)
        self._path.mkdir()
        aside.rename(self._path / name)

    def create(self) -> BinaryIO:
        """Open a file of the operating system."""
        _make_folders(self._path.parent)
        return self._path.open("wb")


def _make_folders(path: Path) -> None:
    """Make a folder and those on the way, however many there are; pathlib's way is a recursion."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        if path.parent == path:
            break
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
