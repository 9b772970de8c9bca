"""Two long texts beside each other, scrolled: ``python -m benchmarks.reports.reading FILE``.

Makes two texts up that share passages, some of which have moved, aligns them, writes their page to
FILE, and scrolls it in the browser of the tests: fast through one text, and with rests, at which
the other text follows. Prints for how long the page did not listen at most, and how far both went.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path
from typing import Any

import neardup
from tests.browser.browse import see_page
from tests.browser.scripts import USABLE

_SEED = 1
_PASSAGES, _WORDS, _BETWEEN = 400, 120, 330

# Each frame a turn of the wheel; with rests, after every 40 of them 40 frames without.
_SCROLL = """(async () => {
  const [a, b] = ['a', 'b'].map((side) => document.querySelector(`#reading-${side}`));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame(); await frame();
  let before = performance.now(), longest = 0;
  const wait = async () => {
    await frame();
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
  };
  for (let i = 0; i < 400; i++) {
    if (%(rests)s && i %% 40 === 39) for (let k = 0; k < 40; k++) await wait();
    a.dispatchEvent(new WheelEvent('wheel', { deltaY: %(step)d, bubbles: true }));
    a.scrollBy({ top: %(step)d, behavior: 'instant' });
    await wait();
  }
  return [longest, a.scrollTop, b.scrollTop];
})()"""


def make_texts() -> tuple[str, str]:
    """Make two texts up that share passages; twenty have changed places with twenty others."""
    rng = random.Random(_SEED)
    words = [f"w{number}" for number in range(30_000)]
    shared = [" ".join(rng.choices(words, k=_WORDS)) for _ in range(_PASSAGES)]

    def text(order: list[int]) -> str:
        own = (" ".join(rng.choices(words, k=_BETWEEN)) for _ in order)
        return "\n\n".join(
            f"{shared[i]}\n\n{between}" for i, between in zip(order, own, strict=True)
        )

    order = list(range(_PASSAGES))
    moved = [*order]
    moved[100:120], moved[300:320] = order[300:320], order[100:120]
    return text(order), text(moved)


def main(arguments: list[str] | None = None) -> int:
    """Make the page, scroll it, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="of the page, ending in .html")
    path = parser.parse_args(arguments).file
    rows: list[list[dict[str, Any]]] = [
        [{"id": name, "text": text}] for name, text in zip("ab", make_texts(), strict=True)
    ]
    result = neardup.align(*rows, min_tokens=50, threshold="0.9")
    result.report(rows[0], against=rows[1]).write(path, overwrite=True)
    lengths = " and ".join(f"{len(row[0]['text']):,}" for row in rows)
    print(f"{lengths} characters, {len(result.passages):,} passages; load {os.getloadavg()[0]:.1f}")
    print("| scrolled | ms until usable | longest pause in ms | the one went | the other |")
    print("| --- | --- | --- | --- | --- |")
    for name, step, rests in (
        ("fast", 400, False),
        ("with rests", 400, True),
        ("slowly", 100, True),
    ):
        script = _SCROLL % {"step": step, "rests": str(rests).lower()}
        usable, (longest, one, other) = see_page(path, USABLE, script).values
        print(f"| {name} | {usable:.0f} | {longest:.0f} | {one:,.0f} px | {other:,.0f} px |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
