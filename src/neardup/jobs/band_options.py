"""How candidates are found by MinHash bands: options that several jobs share."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction

from neardup.errors import InvalidParameterError
from neardup.matching.bands import Banding, check_banding, choose_banding
from neardup.matching.measures import Measure
from neardup.options.kinds import exact_fraction
from neardup.options.option import CheckedOptions, no_effect
from neardup.sketches.minhash import MinHashScheme


@dataclass(frozen=True, kw_only=True)
class BandOptions(CheckedOptions):
    """How candidates are found by MinHash bands.

    None stands for the default, so that one that was given where no bands are used is noticed.
    """

    recall: str | float | Decimal | Fraction | None = None
    num_perm: int | None = None
    bands: int | None = None
    rows: int | None = None
    seed: int | None = None

    @property
    def recall_asked_for(self) -> Fraction:
        """The recall as an exact number."""
        return exact_fraction("recall", "0.99" if self.recall is None else self.recall)

    def check_unused(self, where: str, remedy: str, *, but: str | None = None) -> None:
        """Raise if one of these options, ``but`` one, was given where no bands are used.

        Raises
        ------
        InvalidParameterError
            For the first of them; it says ``where`` it has no effect, and what to do.
        """
        for option in fields(BandOptions):
            if getattr(self, option.name) is not None and option.name != but:
                raise no_effect(option.name, where, remedy, "method", "measure", "top")

    def choose_bands(self, measure: Measure) -> tuple[Banding, MinHashScheme]:
        """Choose bands for the recall, unless they are given.

        Raises
        ------
        InvalidParameterError
            For options that do not go together.
        """
        recall = self.recall_asked_for
        if (self.bands is None) != (self.rows is None):
            message = "bands and rows go together; give both or neither"
            raise InvalidParameterError(message, "bands", "rows")
        num_perm = 128 if self.num_perm is None else self.num_perm
        scheme = MinHashScheme(num_perm, 42 if self.seed is None else self.seed)
        try:
            if self.bands is not None and self.rows is not None:
                banding = check_banding(self.bands, self.rows, num_perm)
            else:
                banding = choose_banding(measure.least_jaccard, recall, num_perm)
        except InvalidParameterError as error:
            raise InvalidParameterError(str(error), "recall", "num_perm") from None
        return banding, replace(scheme, num_perm=banding.num_perm)
