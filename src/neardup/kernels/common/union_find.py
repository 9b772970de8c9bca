"""Union-find forests: each root is the first document of its component."""

from __future__ import annotations

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import ConstInt64s, Int, Int64s


@inlined
def find_root(parents: Int64s, d: Int) -> Int:
    """First document of the component of d, halving the path to it."""
    while parents[d] != d:
        parents[d] = parents[parents[d]]
        d = parents[d]
    return d


@kernel
def union_edges(parents: Int64s, first: ConstInt64s, second: ConstInt64s) -> None:
    """Join the components of ``first[k]`` and ``second[k]``, for each k."""
    for k in range(first.shape[0]):
        a, b = find_root(parents, first[k]), find_root(parents, second[k])
        parents[max(a, b)] = min(a, b)


@kernel
def find_roots(parents: Int64s) -> None:
    """Point every document at the first one of its component."""
    # No parent comes after its child, so that earlier documents point at their roots already.
    for d in range(parents.shape[0]):
        parents[d] = parents[parents[d]]
