"""Which examples of a result are shown, and how the documents that it names are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from neardup.errors import InvalidParameterError
from neardup.jobs.document_options import AgainstOptions, ReadingOptions
from neardup.options.jobs import COMMANDS
from neardup.options.option import no_effect

Which = Literal["spread", "least", "most"]


@dataclass(frozen=True, kw_only=True)
class ShowOptions(AgainstOptions):
    """How many examples, whether the least or the most similar, and how documents are read."""

    known = COMMANDS["show"]

    examples: int = 10
    least: bool = False
    most: bool = False
    trust: bool = False

    @property
    def which(self) -> Which:
        """Which examples are shown.

        Raises
        ------
        InvalidParameterError
            If both the least and the most similar ones are asked for.
        """
        if self.least and self.most:
            message = "least and most ask for different examples; give one of them"
            raise InvalidParameterError(message, "least", "most")
        return "least" if self.least else "most" if self.most else "spread"

    def check_unread(self, where: str, remedy: str) -> None:
        """Raise if an option says how documents are read, where none are.

        Raises
        ------
        InvalidParameterError
            For the first of them.
        """
        usual = ReadingOptions()
        for option in ReadingOptions.known:
            if getattr(self, option.name) != getattr(usual, option.name):
                raise no_effect(option.name, where, remedy)
