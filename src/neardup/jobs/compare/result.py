"""The result of ``compare``: as tables, as plain data and as a page."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.jobs.compare.values import (
    Comparison,
    Differences,
    Estimated,
    Measured,
    SharedPassage,
    TextSize,
)
from neardup.jobs.compare.wording import (
    diffuseness,
    measure_rows,
    shared_sentence,
    size_rows,
    summary_lines,
)
from neardup.outputs.compare_page import PAGE_SUFFIXES, Link, Page, render_page
from neardup.outputs.table_files import check_file, write_file
from neardup.outputs.targets import target_of
from neardup.results import Result

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class CompareResult(Comparison, Result):
    """All that was found out about two texts.

    ``print`` shows how alike the texts are and what they share; ``to_text(full=True)`` adds all
    measures and estimates. ``to_dict`` returns plain values, ``html`` a page. As an Arrow stream it
    is a row for each measure and kind of sketch.
    """

    summary: dict[str, Any] = field(default_factory=dict, compare=False)

    def headline(self) -> str:
        """Return how similar the texts are, and how many passages they share."""
        similarity = self["jaccard"].exact
        n = len(self.passages)
        return f"jaccard {similarity:.4f}, {n:,} shared {'passage' if n == 1 else 'passages'}"

    def __str__(self) -> str:
        """Say how alike the texts are, and list passages and differences; as ``to_text``."""
        return self.to_text()

    def to_text(self, *, full: bool = False) -> str:
        """Say how alike the texts are, and list passages and differences.

        With ``full`` tables of all sizes and measures follow, with what sketches estimate.
        """
        return "\n".join(summary_lines(self, full=full))

    @property
    def table(self) -> pa.Table:
        """Each measure with its exact value, and what sketches of each kind estimate."""
        import pyarrow as pa

        rows = [
            {"measure": measured.name, "elements": measured.elements, "exact": measured.exact}
            | ({} if estimated is None else asdict(estimated))
            for measured in self.measures
            for estimated in measured.estimates or (None,)
        ]
        texts, numbers = pa.string(), pa.float64()
        kinds = {"measure": texts, "elements": texts, "exact": numbers, "kind": texts}
        kinds |= dict.fromkeys(("value", "error", "low", "high"), numbers)
        return pa.Table.from_pylist(rows, pa.schema({**kinds, "samples": pa.int64()}))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the texts as plain values; what ``--json`` prints."""
        differences = asdict(self.differences)
        return {
            "names": list(self.names),
            "sizes": {side: asdict(size) for side, size in zip("ab", self.sizes, strict=True)},
            "measures": [_plain(asdict(measured)) for measured in self.measures],
            "passages": [_plain(asdict(passage)) for passage in self.passages],
            "differences": {name: _plain(value) for name, value in differences.items()},
            "options": self.options,
        }

    def html(self) -> str:
        """Return one page with both texts side by side, shared passages linked by colour.

        It loads nothing from anywhere; texts are shown as text, whatever they hold.
        """
        page = Page(
            self.names,
            self.texts,
            self.links(),
            measure_rows(self),
            size_rows(self),
            [shared_sentence(self), *diffuseness(self)],
        )
        return render_page(page)

    @classmethod
    def from_dict(cls, values: dict[str, Any], texts: tuple[str, str]) -> CompareResult:
        """Return the result of which ``to_dict`` made plain values, for the same texts."""
        a, b = (TextSize(**values["sizes"][side]) for side in "ab")
        differences = {name: _as_tuples(value) for name, value in values["differences"].items()}
        return cls(
            (values["names"][0], values["names"][1]),
            texts,
            (a, b),
            tuple(
                Measured(
                    **measured
                    | {"estimates": tuple(Estimated(**each) for each in measured["estimates"])}
                )
                for measured in values["measures"]
            ),
            tuple(
                SharedPassage(**{name: _as_tuples(value) for name, value in passage.items()})
                for passage in values["passages"]
            ),
            Differences(**differences),
            values["options"],
        )

    def links(self) -> list[Link]:
        """Return the shared passages as a page shows them."""
        return [
            Link(p.a, p.b, p.similarity, p.changes_a or (), p.changes_b or ())
            for p in self.passages
        ]

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page (.html) or the plain values (.json), by the file's ending.

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            If the ending is another, the file exists, or it cannot be written.
        """
        target = target_of(path)
        check_file(target, (*PAGE_SUFFIXES, ".json"), overwrite=overwrite)
        if target.suffix == ".json":
            content = json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"
        else:
            content = self.html()
        write_file(target, lambda new: new.write_text(content))


def _as_tuples(value: Any) -> Any:
    """Turn lists into tuples again."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Turn tuples into lists, as JSON has them."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
