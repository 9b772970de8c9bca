from __future__ import annotations

import random

import numpy as np

from neardup.kernels.arrays import Int64s, Uint64s
from neardup.kernels.passage import repeat_table
from tests.each import each_of
from tests.kernels.own_kernels import own_kernel


@own_kernel
def walk(removed: Uint64s, start: int, stop: int, seen: Int64s) -> None:
    """What the functions say of tokens: removed, next and last that stays, next that does not."""
    for place in range(start, stop):
        seen[5 * place] = repeat_table.is_removed(removed, place)
        seen[5 * place + 1] = repeat_table.at_or_after(removed, place, stop)
        seen[5 * place + 2] = repeat_table.at_or_before(removed, place, start)
        seen[5 * place + 3] = repeat_table.is_whole(removed, start, place)
        seen[5 * place + 4] = repeat_table.first_removed(removed, place, stop)


@own_kernel
def mark(removed: Uint64s, start: int, stop: int, value: int) -> None:
    repeat_table.set_removed(removed, start, stop, value)


@each_of("seed", range(12))
def test_cut_text__by_definition(seed):
    generator = random.Random(seed)
    n = 300
    start = generator.randrange(150)
    stop = generator.randint(start, n)
    removed, gone = np.zeros(n // 64 + 1, np.uint64), set()
    for _ in range(generator.randrange(6)):
        first = generator.randrange(n)
        last = generator.randint(first, min(n, first + generator.choice([3, 200])))
        value = generator.random() < 0.8
        mark(removed, first, last, int(value))
        gone = gone | set(range(first, last)) if value else gone - set(range(first, last))
    seen = np.zeros(5 * n, np.int64)
    walk(removed, start, stop, seen)
    for place in range(start, stop):
        stays = [p for p in range(start, stop) if p not in gone]
        assert seen[5 * place : 5 * place + 5].tolist() == [
            place in gone,
            min((p for p in stays if p >= place), default=stop),
            max((p for p in stays if p <= place), default=start - 1),
            gone.isdisjoint(range(start, place)),
            min((p for p in gone if place <= p < stop), default=stop),
        ]
