"""Options of sketches, checked before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from neardup.jobs.document_options import DocumentOptions
from neardup.options.choices import (
    InverseFrequency,
    SketchKindName,
    TermFrequency,
    WindowHash,
)
from neardup.options.jobs import FUNCTIONS
from neardup.options.option import no_effect
from neardup.sketches.kind import AnyKind, TextScheme
from neardup.sketches.registry import SketchMaker, kind_named
from neardup.text.weighting import WeightedScheme, Weighting

KindT = TypeVar("KindT", bound=AnyKind)


@dataclass(frozen=True, kw_only=True)
class SketchOptions(DocumentOptions):
    """Everything that decides sketches; see ``sketch`` for the meanings.

    None stands for the default of a kind, so that an option that it does not have is noticed.
    """

    known = FUNCTIONS["sketch"]

    kind: SketchKindName = "minhash"
    num_perm: int | None = None
    size: int | None = None
    modulus: int | None = None
    tf: TermFrequency | None = None
    idf: InverseFrequency | None = None
    idf_from: Any = None
    compression: int | None = None
    neighbourhood: int | None = None
    hash: WindowHash | None = None
    letters: int | None = None
    residue: int | None = None
    blocks: int | None = None

    def with_defaults(self, kind: type[AnyKind]) -> SketchOptions:
        """Return these options with what a kind takes for those that were not given."""
        missing = {
            name: value for name, value in kind.defaults.items() if getattr(self, name) is None
        }
        tokenizer = missing.pop("tokenizer", None)
        options = replace(self, **missing)
        return options if tokenizer is None else options.with_tokenizer(tokenizer)


def make_maker(options: SketchOptions) -> SketchMaker[AnyKind]:
    """Check what goes with what, before any work starts."""
    return make_maker_of(kind_named(options.kind), options)


def make_maker_of(kind: type[KindT], options: SketchOptions) -> SketchMaker[KindT]:
    """Check what goes with a kind, whatever kind ``options`` name; errors as of ``make_maker``."""
    names = tuple(kind.scheme_type.__dataclass_fields__)
    _check_own(kind, options, names)
    given = {name: getattr(options, name) for name in names}
    kind.check_given(given)
    scheme = kind.scheme_type(**{name: value for name, value in given.items() if value is not None})
    weights = _weights_of(options) if kind.is_weighted else None
    shingles = options.with_defaults(kind).reading_plan().shingles
    texts = TextScheme(shingles) if weights is None else TextScheme(shingles, weights)
    return SketchMaker(kind(scheme), texts)


def _weights_of(options: SketchOptions) -> WeightedScheme:
    weights = WeightedScheme(Weighting(options.tf or "raw", options.idf or "unary"))
    if options.idf_from is not None and not weights.needs_frequencies:
        raise no_effect("idf_from", "with idf unary", "choose another idf", "idf")
    return weights


def _check_own(kind: type[AnyKind], options: SketchOptions, names: tuple[str, ...]) -> None:
    """Raise if an option was given that sketches of a kind do not have."""
    of_documents = {option.name: option.default for option in fields(DocumentOptions)}
    known = {*of_documents, "kind", "blocks", *names, *kind.more_options}
    unknown = [option.name for option in fields(SketchOptions) if option.name not in known]
    for name in (*unknown, *kind.missing_options):
        if getattr(options, name) != of_documents.get(name):
            where = f"on sketches of kind {kind.name}"
            raise no_effect(name, where, "choose another kind", "kind")
