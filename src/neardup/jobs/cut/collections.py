"""The collections of a cut: the one that is cut, and another whose documents all stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.clustering.keep import KeepPolicy
from neardup.files.rows import Source
from neardup.jobs.cut.plan import CutJobPlan
from neardup.reading.catalogue import Catalogue
from neardup.reading.token_pass import read_tokens
from neardup.runtime.runner import Runner
from neardup.tables import Int64s, TokenLists

if TYPE_CHECKING:
    from neardup.storage.workspace import Workspace


@dataclass(frozen=True)
class Collections:
    """Two collections, cut into tokens; documents of ``other`` are numbered first.

    ``order`` are the documents of ``own``, numbered by themselves, in keep order.
    """

    other: Catalogue
    own: Catalogue
    tokens: TokenLists
    order: Int64s

    @property
    def catalogues(self) -> tuple[Catalogue, Catalogue]:
        """Both, in the order in which their documents are numbered."""
        return self.other, self.own

    @property
    def other_tokens(self) -> TokenLists:
        """The tokens of the other collection."""
        return TokenLists(self.tokens.values, self.tokens.offsets[: len(self.other) + 1])

    @property
    def own_tokens(self) -> TokenLists:
        """The tokens of the documents that are cut."""
        return TokenLists(self.tokens.values, self.tokens.offsets[len(self.other) :])


def read_collections(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> Collections:
    """Read all documents once and cut them into tokens.

    Raises
    ------
    InvalidInputError, ReadError, WriteError
        As ``read_tokens``.
    """
    collections = [(against, plan.options.other_columns), (sources, plan.reading.columns)]
    (other, own), tokens = read_tokens(collections, plan.reading, workspace, runner)
    return Collections(other, own, tokens, keep_order(own, plan.keep))


def keep_order(own: Catalogue, keep: KeepPolicy) -> Int64s:
    """Return the documents of a collection in the order of a policy."""
    return np.ascontiguousarray(keep.order(len(own), own.lengths, own.order), np.int64)


def keep_ranks(own: Catalogue, keep: KeepPolicy) -> Int64s:
    """Return the place of each document of a collection in the order of a policy."""
    ranks: Int64s = np.empty(len(own), np.int64)
    ranks[keep_order(own, keep)] = np.arange(len(own))
    return ranks
