"""What shingles weigh, for a weighted measure: options that several jobs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from neardup.matching.measures import Measure, WeightedJaccard
from neardup.options.choices import InverseFrequency, Occurrences, TermFrequency
from neardup.options.option import CheckedOptions, no_effect
from neardup.text.weighting import WeightedScheme, Weighting


@dataclass(frozen=True, kw_only=True)
class WeightOptions(CheckedOptions):
    """What a shingle weighs.

    None stands for the default, so that one that was given for plain sets is noticed.
    """

    occurrences: Occurrences | None = None
    tf: TermFrequency | None = None
    idf: InverseFrequency | None = None

    of_weights: ClassVar[tuple[str, ...]] = ("tf", "idf")

    def check_no_weights(self, where: str) -> None:
        """Raise if one of these options was given where nothing is weighted."""
        for name in self.of_weights:
            if getattr(self, name) is not None:
                remedy = f"choose measure {WeightedJaccard.name}"
                raise no_effect(name, where, remedy, "measure")

    def weights_for(self, measure: Measure) -> WeightedScheme | None:
        """Return what shingles weigh, for a weighted measure."""
        where = f"with measure {measure.name}"
        if not measure.is_weighted:
            self.check_no_weights(where)
            return None
        if self.occurrences not in (None, "set"):
            where += ", where tf says what copies count"
            raise no_effect("occurrences", where, "choose tf raw", "measure", "tf")
        return WeightedScheme(Weighting(self.tf or "raw", self.idf or "smooth"))


@dataclass(frozen=True, kw_only=True)
class CountingOptions(WeightOptions):
    """What a shingle weighs where documents are counted for that, or others instead of them."""

    idf_from: Any = None

    of_weights: ClassVar[tuple[str, ...]] = (*WeightOptions.of_weights, "idf_from")

    def weights_for(self, measure: Measure) -> WeightedScheme | None:
        """Return what shingles weigh; errors as of ``WeightOptions``."""
        scheme = super().weights_for(measure)
        if self.idf_from is not None and scheme and not scheme.needs_frequencies:
            raise no_effect("idf_from", "with idf unary", "choose another idf", "idf")
        return scheme

    def check_weights_of_index(self, measure: Measure) -> None:
        """Raise for an option that has no effect with an index of this measure."""
        self.weights_for(measure)
        if self.idf_from is not None:
            where = "with an index, whose weights stay as they are"
            raise no_effect("idf_from", where, "name files with against", "against")
