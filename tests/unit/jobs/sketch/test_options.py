"""Options of sketches."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidParameterError
from neardup.sketches.kind import KIND_NAMES
from tests.calls import grouped
from tests.each import each_of

# For each option the kinds that have it, and a value of it.
OWN = {
    "num_perm": ({"minhash", "weighted"}, 16),
    "size": ({"smallest", "modulo"}, 16),
    "modulus": ({"modulo"}, 3),
    "fingerprint": ({"minhash", "weighted", "smallest", "modulo"}, "rabin"),
    "tf": ({"weighted"}, "log"),
    "idf": ({"weighted"}, "smooth"),
    "compression": ({"edit"}, 9),
    "tokenizer": ({"minhash", "weighted", "smallest", "modulo"}, "bytes"),
    "ngram": ({"minhash", "weighted", "smallest", "modulo"}, 3),
    "occurrences": ({"minhash", "smallest", "modulo"}, "numbered"),
    "seed": (set(KIND_NAMES), 7),
    "casefold": (set(KIND_NAMES), False),
    "unicode_form": (set(KIND_NAMES), "NFC"),
    "strip_accents": (set(KIND_NAMES), True),
}


@each_of("name", OWN)
@each_of("kind", KIND_NAMES)
def test_sketch__options_of_each_kind(name, kind):
    """An option is in the scheme, or refused."""
    having, value = OWN[name]
    more = {"casefold": False} if value == "bytes" else {}
    if kind in having:
        sketches = neardup.sketch(["some text"], **grouped(kind=kind, **{name: value}, **more))
        assert sketches.scheme[name] == value
        assert sketches.scheme["kind"] == kind
        return
    with pytest.raises(InvalidParameterError, match=f"^{name}.*{kind}") as caught:
        neardup.sketch(["some text"], **grouped(kind=kind, **{name: value}))
    assert caught.value.parameters == (name, "kind")


@each_of(
    ("kind", "options"),
    [
        ("minhash", {"num_perm": 1}),
        ("minhash", {"seed": 2**64 - 1}),
        ("smallest", {"size": 1}),
        ("smallest", {"size": 2**20}),
        ("modulo", {"modulus": 1}),
        ("modulo", {"modulus": 2**32}),
        ("edit", {"compression": 1}),
        ("edit", {"compression": 2**20}),
    ],
)
def test_sketch__ends_of_ranges(kind, options):
    sketches = neardup.sketch(["some text", "some text "], **grouped(kind=kind, **options))
    assert {name: sketches.scheme[name] for name in options} == options
    assert len(neardup.estimate(sketches).pairs) == 1
