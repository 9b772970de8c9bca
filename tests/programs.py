"""Programs of several languages: copies of each other with other names and a few other lines."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

# What other languages read otherwise: comments, quotes, an integer division.
LINES = {
    "python": (
        "{a} = {b} // {n} + int({c})  # it's {words}",
        "for {a} in range({n}): print({b} ** 2)",
        "if {a} > {n}: {b}.append('{words}')",
        "def {a}({b}, {c}=None): return {b}[1:]  # don't {words}",
        "while {a} and not {b}: {c} -= {n}  # {words}",
        "with open({a}) as {b}: yield from {b}[{n}:]",
    ),
    "java": (
        "int {a}(int {b}) {{ return {b} * {n}; }} // it's {words}",
        "for (int {a} = 0; {a} < {n}; {a}++) {{ {b}.add('#'); }} // {words}",
        'if ({a} > {n}) {{ {b} = "{words} # no"; }} /* don\'t {words} */',
        "private final List<String> {a} = new ArrayList<>(); // {words}",
        "while ({a} != null && !{b}) {{ {c} -= {n}; break; }}",
        "synchronized ({a}) {{ throw new {b}({c}, {n}); }}",
    ),
}
ENDINGS = {"python": "py", "java": "java"}


def program(language: str, seed: int, names: int) -> str:
    """Write a program; of one seed all are alike but for their names, numbers and a few lines."""
    lines, chosen = random.Random(seed), random.Random(names)
    kinds = [lines.choice(LINES[language]) for _ in range(40)]
    for place in chosen.sample(range(40), 3):
        kinds[place] = chosen.choice(LINES[language])
    made = [
        kind.format(
            n=chosen.randrange(99),
            words=" ".join(chosen.choices(("so", "(", "1", "+"), k=chosen.randrange(6))),
            **{name: f"{name}{chosen.randrange(99)}" for name in "abc"},
        )
        for kind in kinds
    ]
    return "\n".join(made) + "\n"


def write_programs(parent: Path) -> dict[str, Path]:
    """Write the programs of each language, and of all together, to folders; return these."""
    for language, ending in ENDINGS.items():
        for seed in range(3):
            for names in range(3):
                path = parent / language / f"{seed}-{names}.{ending}"
                path.parent.mkdir(exist_ok=True)
                path.write_text(program(language, seed, 10 * seed + names))
        start = (parent / language / f"0-0.{ending}").read_text().splitlines()[:8]
        (parent / f"start.{ending}").write_text("\n".join(start))
    for language in ENDINGS:
        shutil.copytree(parent / language, parent / "all", dirs_exist_ok=True)
    return {name: parent / name for name in (*ENDINGS, "all")}
