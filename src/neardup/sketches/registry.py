"""List the kinds of sketches, and look them up by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from neardup.errors import InvalidParameterError, SketchFormatError
from neardup.sketches.kind import AnyKind

_KINDS = {
    "minhash": ("neardup.sketches.minhash", "MinHashKind"),
    "weighted": ("neardup.sketches.weighted_minhash", "WeightedKind"),
    "smallest": ("neardup.sketches.smallest", "SmallestKind"),
    "modulo": ("neardup.sketches.modulo", "ModuloKind"),
    "edit": ("neardup.sketches.edit.kind", "EditKind"),
}

KIND_NAMES = tuple(_KINDS)


def kind_named(name: str) -> type[AnyKind]:
    """Return the kind of a name of ``KIND_NAMES``.

    Its module is loaded then, because a job needs one kind, and each loads kernels of its own.
    """
    module, kind = _KINDS[name]
    kind_class: type[AnyKind] = getattr(import_module(module), kind)
    return kind_class


def kinds_with(feature: str) -> str:
    """Return the names of the kinds that have a feature, such as ``has_clusters``."""
    return " or ".join(name for name in KIND_NAMES if getattr(kind_named(name), feature))


def kind_of(fields: dict[str, Any]) -> AnyKind:
    """Return the kind of sketches that a scheme, as plain values, describes.

    Raises
    ------
    SketchFormatError
        For an unknown kind, and fields that are missing or out of range.
    """
    name = fields.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        message = f"unknown kind of sketches {name!r}; it may come from a newer version of neardup"
        raise SketchFormatError(message)
    kind = kind_named(name)
    own = kind.scheme_type
    # A modulo scheme with a modulus has no size.
    given = {
        field: fields[field] for field in own.__dataclass_fields__ if fields.get(field) is not None
    }
    if any(type(value) not in (int, str) for value in given.values()):
        message = f"the scheme of kind {name} has fields that are neither whole numbers nor names"
        raise SketchFormatError(message)
    try:
        scheme = own(**given)
    except (InvalidParameterError, TypeError) as error:
        message = f"the scheme is not valid: {error}"
        raise SketchFormatError(message) from None
    if any(
        field not in fields or fields[field] != value for field, value in scheme.describe().items()
    ):
        message = f"the scheme of kind {name} is not complete; make the sketches again"
        raise SketchFormatError(message)
    return kind(scheme)
