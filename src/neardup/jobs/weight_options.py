"""What shingles weigh, for a weighted measure: options that several jobs share."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.matching.measures import Measure, WeightedJaccard
from neardup.options.choices import InverseFrequency, Occurrences, TermFrequency
from neardup.options.option import CheckedOptions, no_effect
from neardup.text.weighted_sets import WeightedScheme
from neardup.text.weighting import Weighting


@dataclass(frozen=True, kw_only=True)
class WeightOptions(CheckedOptions):
    """What a shingle weighs.

    None stands for the default, so that one that was given for plain sets is noticed.
    """

    occurrences: Occurrences | None = None
    tf: TermFrequency | None = None
    idf: InverseFrequency | None = None

    def check_no_weights(self, where: str) -> None:
        """Raise if one of these options was given where nothing is weighted.

        Raises
        ------
        InvalidParameterError
            For the first of them; it says ``where`` it has no effect.
        """
        for name in ("tf", "idf"):
            if getattr(self, name) is not None:
                remedy = f"choose measure {WeightedJaccard.name}"
                raise no_effect(name, where, remedy, "measure")

    def weights_for(self, measure: Measure) -> WeightedScheme | None:
        """Return what shingles weigh, for a weighted measure.

        Raises
        ------
        InvalidParameterError
            For an option that has no effect with the measure.
        """
        where = f"with measure {measure.name}"
        if not measure.is_weighted:
            self.check_no_weights(where)
            return None
        if self.occurrences not in (None, "set"):
            where += ", where tf says what copies count"
            raise no_effect("occurrences", where, "choose tf raw", "measure", "tf")
        return WeightedScheme(Weighting(self.tf or "raw", self.idf or "smooth"))
