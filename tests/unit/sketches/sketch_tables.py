"""Sketches of every kind, and their tables with something changed."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

import neardup
from neardup.sketches.kind import METADATA_KEY, checksum_of
from tests.arrays import same_arrays
from tests.calls import grouped

KINDS = {
    "minhash": {"kind": "minhash", "num_perm": 16},
    "weighted": {"kind": "weighted", "num_perm": 16, "tf": "log", "idf": "smooth"},
    "smallest": {"kind": "smallest", "size": 8, "ngram": 1},
    "rabin": {"kind": "smallest", "size": 8, "ngram": 1, "fingerprint": "rabin"},
    "modulo": {"kind": "modulo", "size": 4, "ngram": 1},
    "modulus": {"kind": "modulo", "modulus": 7, "ngram": 1},
    "edit": {"kind": "edit", "compression": 4},
}
kinds = pytest.mark.parametrize("kind", KINDS)
COLUMNS = "columns are not"
NOT_SKETCHES = "not a file"


def make(kind, n=40):
    generator = random.Random(7)
    texts = [
        " ".join(generator.choices("abcdefghijklmnopqrstuvwxyzäß漢", k=generator.randrange(60)))
        for _ in range(n)
    ]
    rows = [{"id": f"é{i}", "text": text} for i, text in enumerate(["", "a", *texts][:n])]
    return neardup.sketch(rows, **grouped(id_column="id", **KINDS[kind]))


def same(one, other):
    """Every number is the same, and of the same type."""
    assert one.scheme == other.scheme
    assert one.ids.equals(other.ids)
    return same_arrays(one.rows, other.rows)


def with_column(table, name, values):
    place = table.schema.get_field_index(name)
    changed = table.set_column(place, name, values)
    return changed.replace_schema_metadata(table.schema.metadata)


def with_scheme(table, *, checked=True, **fields):
    about = json.loads(table.schema.metadata[METADATA_KEY])
    scheme = {**about["scheme"], **fields}
    about["scheme"] = {name: value for name, value in scheme.items() if value is not ...}
    if checked:
        about["scheme_checksum"] = checksum_of(about["scheme"])
    return with_about(table, about)


def with_about(table, about):
    data = about if isinstance(about, bytes) else json.dumps(about).encode()
    return table.replace_schema_metadata({METADATA_KEY: data})


def lists(values, kind=pa.uint64()):  # noqa: B008 - types do not change
    return pa.array(values, pa.large_list(kind))
