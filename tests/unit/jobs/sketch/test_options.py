"""Options of sketches."""

from __future__ import annotations

import pytest

import neardup
from neardup.errors import InvalidParameterError
from neardup.sketches.registry import KIND_NAMES
from tests.calls import grouped
from tests.each import each_of

# For each option the kinds that have it, and a value of it.
OWN = {
    "num_perm": ({"minhash", "weighted"}, 16),
    "size": ({"smallest", "modulo"}, 16),
    "modulus": ({"modulo"}, 3),
    "fingerprint": ({"minhash", "weighted", "smallest", "modulo"}, "rabin"),
    "fingerprint_bits": ({"minhash", "weighted", "smallest", "modulo"}, 40),
    "tf": ({"weighted"}, "log"),
    "idf": ({"weighted"}, "smooth"),
    "compression": ({"edit"}, 9),
    "neighbourhood": ({"edit"}, 3),
    "hash": ({"edit"}, "sum"),
    "letters": ({"edit"}, 2),
    "residue": ({"edit"}, 0),
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
    message = f"^{name} has no effect on sketches of kind {kind}; leave it out, or choose another"
    with pytest.raises(InvalidParameterError, match=message) as caught:
        neardup.sketch(["some text"], **grouped(kind=kind, **{name: value}))
    assert caught.value.parameters == (name, "kind")


@each_of(
    ("options", "message"),
    [
        ({"kind": "odd"}, "kind must be one of minhash, weighted, smallest, modulo, edit, got 'od"),
        ({"kind": []}, "kind must be one of minhash, weighted, smallest, modulo, edit, got []"),
        ({"kind": "edit", "idf_from": ["x"]}, "idf_from has no effect on sketches of kind edit"),
        ({"kind": "minhash", "idf_from": ["x"]}, "idf_from has no effect on sketches of kind minh"),
        (
            {"kind": "weighted", "idf_from": ["x"]},
            "idf_from has no effect with idf unary; leave it out, or choose another idf",
        ),
        (
            {"kind": "weighted", "idf_from": ["x"], "idf": "unary"},
            "idf_from has no effect with idf unary; leave it out, or choose another idf",
        ),
        (
            {"kind": "modulo", "modulus": 3, "size": 9},
            "size has no effect with a modulus; leave it out, or leave out modulus",
        ),
        ({"kind": "minhash", "num_perm": 65537}, "num_perm must lie between 1 and 65536, got 6553"),
        ({"kind": "weighted", "num_perm": 65537}, "num_perm must lie between 1 and 65536, got 655"),
        ({"kind": "smallest", "size": 2**20 + 1}, "size must lie between 1 and 1,048,576, got 104"),
        ({"kind": "modulo", "size": 2**20 + 1}, "size must lie between 1 and 1,048,576, got 10485"),
        ({"kind": "modulo", "modulus": 2**32 + 1}, "modulus must lie between 1 and 2^32, got 4294"),
        ({"kind": "edit", "compression": 2**20 + 1}, "compression must lie between 1 and 1,048,57"),
        ({"kind": "edit", "neighbourhood": 257}, "neighbourhood must lie between 1 and 256, got 2"),
        ({"kind": "edit", "letters": 2**32 + 1}, "letters must lie between 2 and 4,294,967,296, g"),
        ({"kind": "edit", "letters": 1}, "letters must lie between 2 and 4,294,967,296, got 1"),
        (
            {"kind": "edit", "residue": 100, "hash": "sum"},
            "residue must lie between 0 and 99, got 100",
        ),
        ({"kind": "edit", "residue": 3}, "residue has no effect with hash='mixed', got 3; leave i"),
        ({"kind": "edit", "hash": "odd"}, "hash must be 'mixed' or 'sum', got 'odd'"),
        ({"kind": "smallest", "fingerprint": "odd"}, "fingerprint must be mixer or rabin, got 'od"),
        ({"kind": "weighted", "tf": "odd"}, "tf must be one of binary, raw, log, squared, saturat"),
        ({"kind": "weighted", "idf": "odd"}, "idf must be one of unary, standard, smooth, probabi"),
        ({"seed": 2**64}, "seed must lie between 0 and 2^64 - 1, got 18446744073709551616"),
        ({"seed": -1}, "seed must lie between 0 and 2^64 - 1, got -1"),
        ({"ngram": 0}, "ngram must lie between 1 and 65536, got 0"),
        ({"kind": "edit", "on_error": "odd"}, "on_error must be raise or skip, got 'odd'"),
        ({"kind": "edit", "unicode_form": "NFD"}, "unicode_form must be"),
        ({"workers": 0}, "workers must be at least 1, got 0"),
        *(
            ({"kind": kind, name: value}, f"{name} must be a whole number, got {value!r}")
            for name, kind in (
                ("num_perm", "minhash"),
                ("num_perm", "weighted"),
                ("size", "smallest"),
                ("modulus", "modulo"),
                ("compression", "edit"),
                ("neighbourhood", "edit"),
                ("letters", "edit"),
                ("residue", "edit"),
                ("seed", "edit"),
                ("seed", "minhash"),
            )
            for value in (12.5, True, "7")
        ),
        *(
            ({"kind": kind, name: 0}, f"{name} must lie between 1 and ")
            for name, kind in (
                ("num_perm", "minhash"),
                ("size", "smallest"),
                ("modulus", "modulo"),
                ("compression", "edit"),
                ("neighbourhood", "edit"),
            )
        ),
    ],
)
def test_sketch__refuses(options, message):
    with pytest.raises(InvalidParameterError) as caught:
        neardup.sketch(["some text"], **grouped(**options))
    assert str(caught.value).startswith(message)


@each_of(
    ("kind", "options"),
    [
        ("minhash", {"num_perm": 1}),
        ("minhash", {"seed": 2**64 - 1}),
        ("smallest", {"size": 1}),
        ("smallest", {"size": 2**20}),
        ("modulo", {"modulus": 1}),
        ("modulo", {"modulus": 2**32}),
        ("edit", {"compression": 1, "neighbourhood": 1, "letters": 2}),
        ("edit", {"compression": 2**20, "neighbourhood": 256, "letters": 2**32}),
        ("edit", {"compression": 7, "hash": "sum", "residue": 6}),
    ],
)
def test_sketch__ends_of_ranges(kind, options):
    sketches = neardup.sketch(["some text", "some text "], **grouped(kind=kind, **options))
    assert {name: sketches.scheme[name] for name in options} == options
    assert len(neardup.estimate(sketches).pairs) == 1
