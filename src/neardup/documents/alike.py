"""Options of a job held to what an index was made with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from neardup.documents.scheme import DocumentScheme
from neardup.errors import InvalidParameterError
from neardup.options.kinds import exact_fraction

# Options that an index has decided.
_DECIDED = (
    *("measure", "ngram", "occurrences", "casefold", "unicode_form", "strip_accents"),
    *("fold_digits", "recall", "num_perm", "bands", "rows", "seed", "tf", "idf"),
    *("fingerprint", "fingerprint_bits"),
)


def check_alike(options: object, scheme: DocumentScheme) -> None:
    """Raise for an option that was given and is not what the index was made with.

    ``options`` are those of a job; what it does not have was not given.

    Raises
    ------
    InvalidParameterError
        For the first of them.
    """
    made_with: dict[str, Any] = {
        "fingerprint": "mixer",
        "fingerprint_bits": 64,
        **scheme.describe(),
        "recall": scheme.recall,
        "num_perm": scheme.minhash.num_perm,
    }
    for name in _DECIDED:
        value = getattr(options, name, None)
        # A flag that is not set is not given.
        if value is None or (value is False and name in ("strip_accents", "fold_digits")):
            continue
        has = made_with.get(name)
        if name == "recall":
            value = exact_fraction(name, value)
        if value != has:
            message = (
                f"the index was made with {name} {_spelled(has)}, got {_spelled(value)}; leave "
                f"out {name}, or build another index"
            )
            raise InvalidParameterError(message, name, "against")


def _spelled(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)
