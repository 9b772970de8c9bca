"""Look up kinds of sketches, make sketches and store them.

A table has a row per document, and the scheme in its metadata. Columns are ``id``, strings or
integers, ``digest``, 16 bytes that only exact copies share, null if unknown, the kind's columns of
the document's size, and ``sketch``:

- minhash: ``size`` (distinct shingles), a list of num_perm uint32; all ones for an empty set.
- weighted: ``size`` and ``weight``, the sum of all weights in units of 2^-20; likewise.
- smallest: ``size``, null where it is not known, a list of ascending uint64.
- modulo: ``size``, ``modulus``, a list of ascending uint64.
- edit: ``length`` in characters, a list of uint32.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidParameterError, SketchFormatError
from neardup.files.documents import join_ids
from neardup.options.documents import SketchOptions
from neardup.options.groups import DocumentOptions, FingerprintOptions
from neardup.options.option import no_effect
from neardup.sketches.kind import (
    DIGEST_BYTES,
    DamagedColumnError,
    SketchKind,
    TextScheme,
    check,
    read_column,
)
from neardup.tables import Texts, Uint64s
from neardup.text.shingles import Fingerprints, shingle_scheme
from neardup.text.weighting import WeightedScheme, Weighting
from neardup.version import __version__

FORMAT_VERSION = 1
METADATA_KEY = b"neardup.sketches"

REPEATED_ID = "an id comes twice; ids must differ, make the sketches again"

_KINDS = {
    "minhash": ("neardup.sketches.minhash", "MinHashScheme"),
    "weighted": ("neardup.sketches.minhash", "WeightedMinHashScheme"),
    "smallest": ("neardup.sketches.samples", "SmallestScheme"),
    "modulo": ("neardup.sketches.samples", "ModuloScheme"),
    "edit": ("neardup.sketches.edit", "EditScheme"),
}

KIND_NAMES = tuple(_KINDS)


def kind_named(name: str) -> type[SketchKind]:
    """Return the kind of a name of ``KIND_NAMES``, loading its module."""
    module, kind = _KINDS[name]
    kind_class: type[SketchKind] = getattr(import_module(module), kind)
    return kind_class


def kind_of(fields: dict[str, Any]) -> SketchKind:
    """Return the kind of sketches that a plain scheme describes.

    SketchFormatError for an unknown kind, and fields that are missing or out of range.
    """
    name = fields.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        message = f"unknown kind of sketches {name!r}; it may come from a newer version of neardup"
        raise SketchFormatError(message)
    own: type[Any] = kind_named(name)
    # A modulo scheme with a modulus has no size.
    given = {
        field: fields[field] for field in own.__dataclass_fields__ if fields.get(field) is not None
    }
    if any(type(value) is not int for value in given.values()):
        message = f"the scheme of kind {name} has fields that are not whole numbers"
        raise SketchFormatError(message)
    try:
        scheme: SketchKind = own(**given)
    except (InvalidParameterError, TypeError) as error:
        message = f"the scheme is not valid: {error}"
        raise SketchFormatError(message) from None
    if any(
        field not in fields or fields[field] != value for field, value in scheme.describe().items()
    ):
        message = f"the scheme of kind {name} is not complete; make the sketches again"
        raise SketchFormatError(message)
    return scheme


@dataclass(frozen=True)
class SketchMaker:
    """All that turns texts into sketches."""

    kind: SketchKind
    texts: TextScheme

    def describe(self) -> dict[str, Any]:
        """Return all settings of comparable sketches, frequencies only once counted."""
        return self.kind.describe_with(self.texts)

    def make(self, texts: Texts) -> tuple[Any, Uint64s]:
        """Sketch texts in the order given and digest them."""
        return self.kind.make(texts, self.texts)


def make_maker(options: SketchOptions) -> SketchMaker:
    """Check the combination of options, before any work starts."""
    kind: type[Any] = kind_named(options.kind)
    names = tuple(kind.__dataclass_fields__)
    _check_own(kind, options, names)
    given = {name: getattr(options, name, None) for name in names}
    if given.get("modulus") is not None and given["size"] is not None:
        message = "size has no effect with a modulus; leave it out, or leave out modulus"
        raise InvalidParameterError(message, "size", "modulus")
    scheme = kind(**{name: value for name, value in given.items() if value is not None})
    weights = _weights_of(options) if kind.is_weighted else None
    usual = {name: value for name, value in kind.defaults.items() if getattr(options, name) is None}
    tokenizer = usual.pop("tokenizer", None)
    complete = options.but(**usual)
    shingles = shingle_scheme(
        complete.with_tokenizer(tokenizer or "words"), Fingerprints.of(complete, complete.seed)
    )
    texts = TextScheme(shingles) if weights is None else TextScheme(shingles, weights)
    return SketchMaker(scheme, texts)


def _weights_of(options: SketchOptions) -> WeightedScheme:
    return WeightedScheme(Weighting(options.tf or "raw", options.idf or "unary"))


def _check_own(kind: type[SketchKind], options: SketchOptions, names: tuple[str, ...]) -> None:
    of_all = {*DocumentOptions.known, *FingerprintOptions.known}
    known = {*of_all, "kind", *names, *kind.more_options}
    unknown = [name for name in SketchOptions.known if name not in known]
    for name in (*unknown, *kind.missing_options):
        if getattr(options, name) != options.known[name].default:
            where = f"on sketches of kind {kind.name}"
            raise no_effect(name, where, "choose another kind", "kind")


def to_arrow(scheme: dict[str, Any], ids: pa.Array, rows: Any, digests: pa.Array) -> pa.Table:
    """Return sketches as a table."""
    columns = {"id": ids, "digest": digests, **kind_of(scheme).to_columns(rows)}
    about: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "neardup": __version__,
        "scheme": scheme,
        "scheme_checksum": checksum_of(scheme),
        "digests": True,
    }
    return pa.table(columns).replace_schema_metadata({METADATA_KEY: json.dumps(about)})


def checksum_of(scheme: dict[str, Any]) -> int:
    """Return the CRC-32 of a scheme, missing in page checksums."""
    return zlib.crc32(json.dumps(scheme, sort_keys=True).encode())


def read_scheme(metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    """Read the scheme of sketches from a table's metadata.

    SketchFormatError if it is not of sketches, is damaged, or has a newer format.
    """
    try:
        about = json.loads((metadata or {})[METADATA_KEY])
        version, scheme = about["format"], about["scheme"]
    except (KeyError, TypeError, ValueError, RecursionError):
        message = "not a file of sketches; make one with neardup sketch"
        raise SketchFormatError(message) from None
    if version != FORMAT_VERSION or not isinstance(scheme, dict):
        message = (
            f"sketches of format {version}, this neardup reads {FORMAT_VERSION}; use a newer "
            "neardup, or make the sketches again"
        )
        raise SketchFormatError(message)
    kind_of(scheme)
    if about.get("scheme_checksum", None) != checksum_of(scheme):
        message = "the scheme is damaged; make the sketches again, or get another copy"
        raise SketchFormatError(message)
    return scheme


def from_arrow(table: pa.Table) -> tuple[dict[str, Any], pa.Array, Any, pa.Array]:
    """Read and check a table's scheme, ids, rows and digests.

    SketchFormatError if anything is not as ``to_arrow`` writes it.
    """
    scheme = read_scheme(table.schema.metadata)
    try:
        table.validate(full=True)
        ids = join_ids([read_column(table, "id")])
        check(ids.null_count == 0)
        rows: Any = kind_of(scheme).from_columns(table)
        digests = _read_digests(table)
    except (KeyError, pa.ArrowException, DamagedColumnError):
        message = "the columns are not those of sketches of this kind; make the sketches again"
        raise SketchFormatError(message) from None
    if pc.count_distinct(ids).as_py() != len(ids):
        raise SketchFormatError(REPEATED_ID)
    return scheme, ids, rows, digests


def _read_digests(table: pa.Table) -> pa.Array:
    column = read_column(table, "digest")
    is_bytes = (pa.types.is_fixed_size_binary, pa.types.is_binary, pa.types.is_large_binary)
    check(column.null_count == len(column) or any(test(column.type) for test in is_bytes))
    return column.cast(pa.binary(DIGEST_BYTES))
