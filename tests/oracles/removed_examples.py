"""Which removed documents a page shows, from lists of all of them."""

from __future__ import annotations

from collections.abc import Sequence


def chosen_examples(
    keepers: Sequence[str], similarities: Sequence[float | None], copies: Sequence[bool], n: int
) -> dict[str, list[int]]:
    """Return the places of ``n`` documents of each kind, of copies one.

    Of a kind the nearest one comes first; then some of all that are at most 0.01 farther, evenly
    spread, every fourth of these first; then all others by distance. Of the first thousand such
    those are taken that have gone for different ones, and others if these are not enough.
    """
    near = [
        place
        for place, (value, copy) in enumerate(zip(similarities, copies, strict=True))
        if value is not None and not copy
    ]
    values = {place: similarities[place] or 0.0 for place in near}
    middle = (min(values.values(), default=0.0) + 1) / 2
    kinds = {
        "least": {place: values[place] for place in near},
        "most": {place: -values[place] for place in near},
        "middle": {place: abs(values[place] - middle) for place in near},
    }
    taken: set[int] = set()
    chosen: dict[str, list[int]] = {}
    for kind, distances in kinds.items():
        if not near:
            break
        by_distance = sorted(near, key=lambda place: (distances[place], place))
        limit = distances[by_distance[0]] + 0.01
        as_good = [place for place in near if distances[place] <= limit]
        n_spread = min(len(as_good), 4 * n)
        step = (len(as_good) - 1) / max(n_spread - 1, 1)
        spread = [as_good[int(k * step)] for k in range(n_spread)]
        by_fours = [place for k in range(4) for place in spread[k::4]]
        order = list(dict.fromkeys([by_distance[0], *by_fours, *by_distance]))[:1_000]
        free = [place for place in order if place not in taken]
        different = list({keepers[place]: place for place in reversed(free)}.values())
        different.sort(key=free.index)
        rest = [place for place in free if place not in different[:n]]
        found = [*different[:n], *rest][:n]
        taken.update(found)
        if found:
            chosen[kind] = found
    if any(copies):
        chosen["copies"] = [copies.index(True)]
    return chosen
