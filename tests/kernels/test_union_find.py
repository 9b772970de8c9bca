from __future__ import annotations

import random

import numpy as np

from neardup.kernels.bucket.components import find_roots, union_edges


def components(n, edges):
    """The first document of each one's component."""
    labels = list(range(n))
    for a, b in edges:
        one, other = sorted((labels[a], labels[b]))
        labels = [one if label == other else label for label in labels]
    return labels


def join(parents, edges):
    first, second = np.array(edges, np.int64).reshape(-1, 2).T.copy()
    union_edges(parents, first, second)


def test_union_edges__in_parts_as_by_definition():
    generator = random.Random(1)
    for _ in range(40):
        n = generator.randint(1, 40)
        edges = [
            (generator.randrange(n), generator.randrange(n))
            for _ in range(generator.randrange(2 * n))
        ]
        cut = generator.randint(0, len(edges))
        parents = np.arange(n, dtype=np.int64)
        join(parents, edges[:cut])
        if generator.random() < 0.5:
            find_roots(parents)
        join(parents, edges[cut:])
        find_roots(parents)
        assert parents.tolist() == components(n, edges)


def test_union_edges__chain_in_any_order():
    """However deep the forest grows, all end at the first document."""
    for edges in ([(i, i + 1) for i in range(200)], [(i + 1, i) for i in reversed(range(200))]):
        parents = np.arange(201, dtype=np.int64)
        join(parents, edges)
        find_roots(parents)
        assert not parents.any()
