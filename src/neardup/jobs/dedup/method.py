"""Which method a job takes where it may choose: by work counted on a sample, never by the clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.jobs.dedup.contents import Contents
from neardup.jobs.dedup.plan import DedupPlan
from neardup.matching.prefixes import list_prefixes
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    from neardup.storage.work import Workspace

# Distinct texts whose prefixes are counted.
SAMPLE_TEXTS = 2000

# Seconds of one core: an element ranked and listed; a record met under a prefix token; an element
# signed by one hash function; a band key sorted. Rounded from the benchmarks of kernels and joins.
_RANK, _MEET, SIGN_SECONDS, SORT_SECONDS = 45e-9, 27e-9, 0.08e-9, 40e-9
# Of weighted sets: an element is weighed again, no parities rule out what meets, and functions draw
# numbers for each element.
_RANK_WEIGHTED, _MEET_WEIGHTED, _SIGN_WEIGHTED = 150e-9, 300e-9, 2e-9

# Exact where that takes no more than so many times the work of sketches, or hardly any at all.
_PATIENCE = 2.0
_HARDLY_ANY = 1.0

# Elements that an exact join holds in memory, so many bytes each, plain and weighted.
_MOST_ELEMENTS = 50_000_000
_BYTES_OF_ELEMENT, _BYTES_OF_WEIGHTED = 30, 48


@dataclass(frozen=True)
class MethodChoice:
    """The method, and the work that either would be, in seconds of one core.

    ``exact`` is None where so much memory would be needed that it was not looked into.
    """

    method: Literal["exact", "minhash"]
    exact: float | None
    minhash: float

    def describe(self) -> dict[str, object]:
        """Give it as plain values for a summary."""
        exact = None if self.exact is None else round(self.exact, 3)
        return {"chosen": self.method, "exact": exact, "minhash": round(self.minhash, 3)}


def count_elements(contents: Contents, plan: DedupPlan) -> int:
    """Count the shingles of all contents, repeats included."""
    n_tokens = contents.n_tokens_of(np.flatnonzero(contents.is_content))
    return int(np.maximum(n_tokens - plan.reading.shingles.ngram + 1, 1).sum())


def check_fits(contents: Contents, plan: DedupPlan, workspace: Workspace, option: str) -> None:
    """Make sure that what an exact join holds of all contents fits in memory."""
    of_element = _BYTES_OF_WEIGHTED if plan.reading.weighted else _BYTES_OF_ELEMENT
    needed = of_element * count_elements(contents, plan)
    if not workspace.fits(needed, 1.0):
        what = "audit" if option == "audit" else f"{option} exact"
        remedy = "leave it out" if option == "audit" else f"choose {option} minhash"
        message = (
            f"{what} compares all texts at once and takes about {needed / 1e6:,.0f} MB for that, "
            f"of {workspace.memory / 1e6:,.0f} MB that may be used; {remedy}, or raise memory"
        )
        raise InvalidParameterError(message, option, "memory")


def choose_method(contents: Contents, plan: DedupPlan, runner: Runner) -> MethodChoice:
    """Count the elements of all distinct texts and, on a sample, how often prefixes meet.

    Meetings grow with the square of the number of texts.
    """
    documents = contents.in_keep_order()
    n_contents = len(documents)
    n_elements = count_elements(contents, plan)
    banding = plan.banding
    rank, meet, sign = _RANK, _MEET, SIGN_SECONDS
    if plan.reading.weighted:
        rank, meet, sign = _RANK_WEIGHTED, _MEET_WEIGHTED, _SIGN_WEIGHTED
    minhash = n_elements * banding.num_perm * sign + n_contents * banding.bands * SORT_SECONDS
    if plan.options.bands is not None or n_elements > _MOST_ELEMENTS:
        return MethodChoice("minhash", None, minhash)
    n_sample = min(n_contents, SAMPLE_TEXTS)
    sample = documents[np.linspace(0, n_contents - 1, n_sample).astype(np.int64)]
    sets = contents.read_comparable(np.sort(sample), plan.reading, runner)
    lists = list_prefixes(sets, plan.measure)
    met = float((lists.sizes * (lists.sizes - 1) / 2).sum())
    scale = n_contents / n_sample if n_sample else 0.0
    exact = n_elements * rank + met * scale * scale * meet
    is_cheap = exact <= max(_PATIENCE * minhash, _HARDLY_ANY)
    return MethodChoice("exact" if is_cheap else "minhash", exact, minhash)
