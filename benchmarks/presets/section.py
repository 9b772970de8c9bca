"""Section ``presets``: recall of presets on texts with known changes.

Its tables are in docs/presets.md.
"""

from __future__ import annotations

import textwrap
from typing import Any

from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import decimals, table
from benchmarks.presets.texts import FOLDER_VARIABLE, HALVES, available

Measured = dict[str, Any]


def run(settings: Settings) -> dict[str, Any]:
    """Measure each preset on both halves, in a process of its own."""
    names = available()
    found = {
        name: [
            own_report(settings, "presets/finding.py", name, half)
            for half in (HALVES if name != "code" else HALVES[1:])
        ]
        for name in names
    }
    return {
        "options": own_report(settings, "presets/finding.py", "options"),
        "presets": found,
        "skipped": [name for name in ("ocr", "titles") if name not in names],
    }


def format_table(figures: dict[str, Any]) -> str:
    """Lay out all tables, each under its heading."""
    found = figures["presets"]
    # The half that options were chosen on says nothing about other texts.
    reported = {name: halves[-1:] for name, halves in found.items()}
    parts = {
        "Options": _options(figures["options"]),
        "Texts with wrong characters": _noise(reported),
        "Both texts with wrong characters": _both(reported),
        "Passages with wrong characters": _passages(reported),
        "Programs with other names": _programs(found["code"][0]),
        "Speed": _speed(found),
    }
    text = "\n\n".join(f"### {heading}\n\n{part}" for heading, part in parts.items())
    if figures["skipped"]:
        note = f"Left out: {', '.join(figures['skipped'])}. Their texts are read from the folder "
        text += "\n\n" + textwrap.fill(f"{note} that {FOLDER_VARIABLE} names.", 100)
    return text


def _options(listed: list[dict[str, Any]]) -> str:
    rows = [
        (f"`{each['name']}`", each["purpose"], each["of"], _flags(each["options"]))
        for each in listed
    ]
    return table(("`--preset`", "what is compared", "by", "options"), rows)


def _flags(options: Any) -> str:
    given = {name.replace("_", "-"): value for name, value in options.items() if value is not None}
    return " ".join(
        f"`--{name}`" if value is True else f"`--{name} {value}`" for name, value in given.items()
    )


def _noise(found: dict[str, list[Measured]]) -> str:
    rows = []
    for name, halves in found.items():
        for measured in halves if name != "code" else ():
            for way, shares in measured["ways"].items():
                label = f"`{name}`" if way == "preset" else "nothing"
                rows += [
                    (
                        *(label, "sections" if name == "ocr" else "titles"),
                        *(f"{each['share']:.0%}", decimals(each["found"], 3)),
                        decimals(each["wrong"], 3),
                    )
                    for each in shares
                ]
    header = ("`--preset`", "texts", "characters wrong", "copies found", "wrong ones")
    return table(header, rows)


def _both(found: dict[str, list[Measured]]) -> str:
    rows = [
        (
            "`ocr`" if way == "preset" else "`ocr`, `--threshold 0.2`",
            f"{each['share']:.0%}",
            *(decimals(each["found"], 3), decimals(each["wrong"], 3)),
        )
        for halves in found.values()
        for measured in halves
        for way, shares in measured.get("both", {}).items()
        for each in shares
    ]
    header = ("`--preset`", "characters wrong, in each", "copies found", "wrong ones")
    return table(header, rows)


def _passages(found: dict[str, list[Measured]]) -> str:
    rows = [
        (
            *(f"`{name}`", f"{each['share']:.0%}"),
            *(decimals(each["found"], 3), decimals(each["covered"], 3)),
        )
        for name, halves in found.items()
        for measured in halves
        for each in measured.get("passages", ())
    ]
    return table(("`--preset`", "characters wrong", "found", "part covered"), rows)


def _programs(measured: Measured) -> str:
    rows = []
    for way, each in measured["ways"].items():
        similarity, *pair = each["unrelated"][0]
        rows.append(
            (
                *("`code`" if way == "preset" else "nothing", each["programs"]),
                *(decimals(each["median"], 3), decimals(each["least"], 3)),
                *(decimals(each["similar"], 3), decimals(similarity, 3), " and ".join(pair)),
            )
        )
    header = (
        *("`--preset`", "programs", "similarity of the copies, median", "least"),
        *("part at 0.9 and more", "most similar two others", "which"),
    )
    return table(header, rows)


def _speed(found: dict[str, list[Measured]]) -> str:
    rows = []
    for name, halves in found.items():
        measured = halves[-1]
        seconds, size = measured["seconds"], measured["bytes"] / 1e6
        rows.append(
            (
                *(f"`{name}`", measured["documents"], decimals(size, 2)),
                *(decimals(size / seconds["preset"], 1), decimals(size / seconds["defaults"], 1)),
            )
        )
    header = ("`--preset`", "texts", "MB", "MB a second of one core", "with the default options")
    return table(header, rows)
