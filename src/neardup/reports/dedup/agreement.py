"""Whether removed documents had the same value of a column as those that stay for them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Agreement:
    """Of ``n_compared`` removed documents ``n_different`` have another value of column ``what``.

    ``n_copies`` of these are exact copies, None where nobody knows it. Documents that went for one
    of another collection, whose values are not known, are not compared.
    """

    what: str
    n_compared: int
    n_different: int
    n_copies: int | None


def agreement_of(what: str, removed: pa.Table) -> Agreement:
    """Compare the columns ``by`` and ``kept_by`` of the table of removed documents."""
    compared = removed.filter(pc.equal(removed["kept_in"], "input"))
    # No value is the empty text.
    own, kept = (pc.fill_null(compared[name], "") for name in ("by", "kept_by"))
    different = compared.filter(pc.not_equal(own, kept))
    copies = different["exact_copy"]
    are_known = not copies.null_count
    n_copies = (pc.sum(copies).as_py() or 0) if are_known else None
    return Agreement(what, len(compared), len(different), n_copies)
