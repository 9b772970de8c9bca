"""What is found out about two texts, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Elements = Literal["set", "numbered", "weighted", "characters"]
Range = tuple[int, int]
Ranges = tuple[Range, ...]


@dataclass(frozen=True)
class TextSize:
    """How large a text is: characters, tokens, distinct shingles, and shingles with their copies.

    ``weight`` is the sum of the weights of its shingles.
    """

    characters: int
    tokens: int
    shingles: int
    numbered_shingles: int
    weight: float


@dataclass(frozen=True)
class Estimated:
    """What the sketches of one kind estimate for a measure.

    ``value`` and ``error``, its standard error, are None where there are not enough samples. The
    interval from ``low`` to ``high`` holds the truth in 95 of 100 cases, or says what little is
    known. Of edit distances there is an interval, but no standard error.
    """

    kind: str
    value: float | None
    error: float | None
    low: float
    high: float
    samples: int


@dataclass(frozen=True)
class Measured:
    """A measure of two texts: its exact value, and what sketches would have estimated.

    ``elements`` says of what: ``set`` or ``numbered`` (multiset) shingles, ``weighted`` ones, or
    ``characters``. ``exact`` is None where texts are too long to work it out.
    """

    name: str
    elements: Elements
    exact: float | None
    estimates: tuple[Estimated, ...] = ()


@dataclass(frozen=True)
class SharedPassage:
    """A passage of both texts; places are characters, ends exclusive.

    ``similarity`` is that of the two passages as sets of tokens, exactly. ``changes_a`` and
    ``changes_b`` are where they differ: the tokens that a longest common subsequence of both leaves
    over. None where passages are too long to tell.
    """

    a: Range
    b: Range
    similarity: float
    changes_a: Ranges | None
    changes_b: Ranges | None


@dataclass(frozen=True)
class Differences:
    """Where two texts differ, and how diffusely.

    ``a`` and ``b`` are the ranges of characters of each text whose tokens are in no shared passage,
    and ``share_a``, ``share_b`` the shares of each text's tokens that are in one; 0 for a text
    without tokens. ``spread`` is estimated: 0 for differences in one place, 1 for differences all
    over. ``significance`` is the number of standard deviations by which the texts are nearer than
    unrelated ones; both are None where there are not enough samples.
    """

    a: Ranges
    b: Ranges
    share_a: float
    share_b: float
    spread: float | None
    significance: float | None


@dataclass(frozen=True, repr=False)
class Comparison:
    """All that was found out about two texts.

    ``names`` are what the texts are called; ``options`` all that decides the rest.
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    sizes: tuple[TextSize, TextSize]
    measures: tuple[Measured, ...]
    passages: tuple[SharedPassage, ...]
    differences: Differences
    options: dict[str, Any]

    def __getitem__(self, key: str | tuple[str, Elements]) -> Measured:
        """Return a measure by its name, or by name and elements; by name alone the first such.

        Raises
        ------
        KeyError
            If there is none.
        """
        for measured in self.measures:
            if key in (measured.name, (measured.name, measured.elements)):
                return measured
        raise KeyError(key)
