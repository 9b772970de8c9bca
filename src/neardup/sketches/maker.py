"""Sketches made from texts: a kind, and how texts are read for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from neardup.sketches.kind import AnyKind, TextScheme
from neardup.tables import Texts, Uint64s

KindT = TypeVar("KindT", bound=AnyKind, covariant=True)


@dataclass(frozen=True)
class SketchMaker(Generic[KindT]):
    """All that turns texts into sketches."""

    kind: KindT
    texts: TextScheme

    def describe(self) -> dict[str, Any]:
        """Return all that decides a sketch, as plain values: sketches are compared if it is equal.

        Frequencies that are still to be counted are missing from it.
        """
        return self.kind.describe(self.texts)

    def make_with_digests(self, texts: Texts) -> tuple[Any, Uint64s]:
        """Sketch texts likewise, and digest what is sketched."""
        return self.kind.make_with_digests(texts, self.texts)

    def make(self, texts: Texts) -> Any:
        """Sketch texts, one after another in the order given."""
        return self.kind.make(texts, self.texts)
