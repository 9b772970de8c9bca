"""Make sketches of texts: a kind, its preparation of texts, and their options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from neardup.options.groups import DocumentOptions, FingerprintOptions
from neardup.options.option import no_effect
from neardup.options.sketches import SketchOptions
from neardup.sketches.kind import AnyKind, TextScheme
from neardup.sketches.registry import kind_named
from neardup.tables import Texts, Uint64s
from neardup.text.shingles import Fingerprints, shingle_scheme
from neardup.text.weighting import WeightedScheme, Weighting

KindT = TypeVar("KindT", bound=AnyKind, covariant=True)


@dataclass(frozen=True)
class SketchMaker(Generic[KindT]):
    """All that turns texts into sketches."""

    kind: KindT
    texts: TextScheme

    def describe(self) -> dict[str, Any]:
        """Return all settings that decide a sketch.

        Sketches of equal settings are comparable. Frequencies are missing until they are counted.
        """
        return self.kind.describe(self.texts)

    def make_with_digests(self, texts: Texts) -> tuple[Any, Uint64s]:
        """Sketch texts, and digest the sketched tokens."""
        return self.kind.make_with_digests(texts, self.texts)

    def make(self, texts: Texts) -> Any:
        """Sketch texts, one after another in the order given."""
        return self.kind.make(texts, self.texts)


def make_maker(options: SketchOptions) -> SketchMaker[AnyKind]:
    """Check the combination of options, before any work starts."""
    return make_maker_of(kind_named(options.kind), options)


def make_maker_of(kind: type[KindT], options: SketchOptions) -> SketchMaker[KindT]:
    """Check the options of a given kind; errors as of ``make_maker``."""
    names = tuple(kind.scheme_type.__dataclass_fields__)
    _check_own(kind, options, names)
    given = {name: getattr(options, name) for name in names}
    kind.check_given(given)
    scheme = kind.scheme_type(**{name: value for name, value in given.items() if value is not None})
    weights = _weights_of(options) if kind.is_weighted else None
    usual = {name: value for name, value in kind.defaults.items() if getattr(options, name) is None}
    tokenizer = usual.pop("tokenizer", None)
    complete = options.but(**usual)
    shingles = shingle_scheme(
        complete.with_tokenizer(tokenizer or "words"), Fingerprints.of(complete, complete.seed)
    )
    texts = TextScheme(shingles) if weights is None else TextScheme(shingles, weights)
    return SketchMaker(kind(scheme), texts)


def _weights_of(options: SketchOptions) -> WeightedScheme:
    weights = WeightedScheme(Weighting(options.tf or "raw", options.idf or "unary"))
    if options.idf_from is not None and not weights.needs_frequencies:
        raise no_effect("idf_from", "with idf unary", "choose another idf", "idf")
    return weights


def _check_own(kind: type[AnyKind], options: SketchOptions, names: tuple[str, ...]) -> None:
    of_all = {*DocumentOptions.known, *FingerprintOptions.known}
    known = {*of_all, "kind", *names, *kind.more_options}
    unknown = [name for name in SketchOptions.known if name not in known]
    for name in (*unknown, *kind.missing_options):
        if getattr(options, name) != options.known[name].default:
            where = f"on sketches of kind {kind.name}"
            raise no_effect(name, where, "choose another kind", "kind")
