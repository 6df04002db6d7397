"""Where nodes stand in the picture. The same overlay gives the same picture on every machine.

Each component is laid out alone: its shape by stress, then forces that push hubs apart and keep groups together, then
discs that overlap are separated. Nothing is used whose last digit differs between processors: no exp, no BLAS.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from topicloom.kernels.places.forces import push_apart, separate, stand_beside
from topicloom.kernels.places.stress import descend, reach, terms
from topicloom.model.arrays import Int64Array

Places = npt.NDArray[np.float64]

PIVOTS, ROUNDS, FORCE_ROUNDS = 100, 30, 80
# Repulsion and discs look at all pairs: above these sizes, only the busiest nodes are laid out, or discs may overlap.
FORCE_LIMIT, SEPARATE_LIMIT = 6_000, 2_000
_PIXELS_OF_A_LINK = 26.0


def layout(
    n_nodes: int,
    links: npt.ArrayLike,
    *,
    radius: npt.ArrayLike | None = None,
    group: npt.ArrayLike | None = None,
    aspect: float = 1.6,
) -> Places:
    """Find a place for every node. A link is about one unit long.

    Parameters
    ----------
    n_nodes : int
    links : (m, 2) integers
    radius : (n,) floats, optional
        Of the discs, in pixels; discs of components with up to 2,000 nodes do not overlap.
    group : (n,) integers, optional
        Nodes of one group are drawn together.
    aspect : float
        Width / height that components are packed for.

    Returns
    -------
    (n, 2) float64 array

    Notes
    -----
    O(nodes² · rounds) up to 6,000 nodes in a component, linear in links above.
    """
    pairs = np.asarray(links, np.int64).reshape(-1, 2)
    radii = None if radius is None else np.asarray(radius, np.float64)
    groups = None if group is None else np.asarray(group, np.int64)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    graph = csr_matrix((np.ones(len(both), np.int8), (both[:, 0], both[:, 1])), shape=(n_nodes, n_nodes))
    graph.sort_indices()
    count, component = connected_components(graph, directed=False)
    size = np.bincount(component, minlength=count)
    first = np.full(count, n_nodes)
    np.minimum.at(first, component, np.arange(n_nodes))
    boxes = []
    for c in np.lexsort((first, -size)):
        members = np.flatnonzero(component == c)
        x = _component(graph[members][:, members], None if groups is None else groups[members])
        if radii is not None and 1 < len(members) <= SEPARATE_LIMIT:
            separate(x, radii[members] / _PIXELS_OF_A_LINK, 80)
        boxes.append((members, x - x.min(0)))
    return _pack(n_nodes, boxes, aspect)


def _component(graph: Any, group: Int64Array | None) -> Places:
    n = graph.shape[0]
    if n <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[:n].copy()
    if n > FORCE_LIMIT:
        return _crowd(graph)
    start, near = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    x = _stress(start, near, n) * 20.0
    labels = np.zeros(n, np.int64) if group is None else np.unique(group, return_inverse=True)[1].astype(np.int64)
    push_apart(x, start, near, np.diff(start) + 1.0, labels, int(labels.max()) + 1, FORCE_ROUNDS, 1.0, 2.0)
    x = _stretch(_turn(x))
    d = x[np.repeat(np.arange(n), np.diff(start))] - x[near]
    placed: Places = x / np.median(np.sqrt(d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1]))
    return placed


def _crowd(graph: Any) -> Places:
    """Lay out the busiest nodes of a large component, and stand everybody else beside the busiest neighbour."""
    n = graph.shape[0]
    degree = np.diff(graph.indptr).astype(np.int64)
    by_degree = np.argsort(-degree, kind="stable")
    core = np.sort(by_degree[: FORCE_LIMIT // 2])
    label = connected_components(graph[core][:, core], directed=False)[1]
    core = core[label == np.bincount(label).argmax()]
    links = np.column_stack(graph[core][:, core].nonzero())
    x = np.full((n, 2), np.nan)
    x[core] = layout(len(core), links[links[:, 0] < links[:, 1]])
    stand_beside(x, graph.indptr.astype(np.int64), graph.indices.astype(np.int64), by_degree, degree, _golden_angles())
    return _stretch(x)


def _golden_angles() -> Places:
    """Return 256 directions a golden angle apart: powers of one turn, rounded so that no last digit can matter."""
    turn, at, out = complex(-0.7373688780783197, 0.6754902942615238), complex(1, 0), np.empty((256, 2))
    for k in range(256):
        out[k] = round(at.real, 9), round(at.imag, 9)
        at *= turn
    return out


def _stress(start: Int64Array, near: Int64Array, n: int) -> Places:
    pivots = n if n <= 400 else PIVOTS
    pivot, distance, region = reach(start, near, n, pivots, int(np.argmax(np.diff(start))))
    i, j, hops, wi, wj = terms(start, near, n, pivot, distance, region)
    # Steps fall from 1 / the least weight to 0.1 / the greatest. The ratio is rounded: no last digit of ** can matter.
    top = 1.0 / min(wi[wi > 0].min(), wj[wj > 0].min())
    low = 0.1 / max(wi.max(), wj.max())
    ratio = round(float((low / top) ** (1.0 / (ROUNDS - 1))), 6)
    steps = np.empty(ROUNDS)
    step = top
    for k in range(ROUNDS):
        steps[k] = step
        step *= ratio
    x = (_mixed(np.arange(2 * n)) >> np.uint64(11)).astype(np.float64).reshape(n, 2) / 2.0**53
    descend(x, i, j, hops, wi, wj, steps, _mixed(np.arange(ROUNDS) + 10**9) | np.uint64(1))
    return x


def _mixed(numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Mix the bits of whole numbers (splitmix64)."""
    z = numbers.astype(np.uint64)
    with np.errstate(over="ignore"):
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _turn(x: Places) -> Places:
    """Turn the longer axis flat, with the longer tails to the right and down."""
    x = x - _ordered_sum(x) / len(x)
    a, b, c = (_ordered_sum(part) for part in (x[:, 0] * x[:, 0], x[:, 0] * x[:, 1], x[:, 1] * x[:, 1]))
    root = np.sqrt((a - c) * (a - c) / 4 + b * b)
    ux, uy = (a - c) / 2 + root, b
    if ux * ux + uy * uy < 1e-18:
        ux, uy = 1.0, 0.0
    length = np.sqrt(ux * ux + uy * uy)
    ux, uy = ux / length, uy / length
    out = np.column_stack([x[:, 0] * ux + x[:, 1] * uy, x[:, 1] * ux - x[:, 0] * uy])
    for k in range(2):
        if out[:, k].max() < -out[:, k].min():
            out[:, k] = -out[:, k]
    return out


def _ordered_sum(x: Places) -> Any:
    """Add up in the order of the rows. ``sum`` adds in blocks whose size depends on the processor."""
    return np.cumsum(x, axis=0)[-1]


def _stretch(x: Places, aspect: float = 1.55, most: float = 1.6) -> Places:
    """Make the picture a little wider than it grew, because screens are wide."""
    width, height = np.ptp(x, axis=0)
    if 0 < width < aspect * height:
        x = x * [min(most, aspect * height / width), 1.0]
    return x


def _pack(n: int, boxes: list[tuple[Int64Array, Places]], aspect: float) -> Places:
    """Put the largest component first, the others in columns beside it, single nodes last."""
    out = np.zeros((n, 2))
    if not boxes:
        return out
    sizes = [x.max(0) for _, x in boxes]
    tall = max(float(height) for _, height in sizes)
    tries = [_columns(sizes, max(tall * factor, 3.0)) for factor in (1.0, 1.25, 1.6, 2.0, 2.6, 3.4)]
    corners = min(tries, key=lambda found: max(found[1] / aspect, found[2]))[0]
    for (members, x), corner in zip(boxes, corners):
        out[members] = x + corner
    return out


def _columns(
    sizes: list[npt.NDArray[np.float64]], limit: float, gap: float = 0.9
) -> tuple[list[tuple[float, float]], float, float]:
    """Stack boxes, with a new column where the limit is reached. Returns their corners, the whole width and height."""
    corners: list[tuple[float, float]] = []
    left, top, column, lowest = 0.0, 0.0, 0.0, 0.0
    for width, height in sizes:
        if top and top + height > limit:
            left, top, column = left + column + gap, 0.0, 0.0
        corners.append((left, top))
        lowest = max(lowest, top + float(height))
        top += float(height) + gap
        column = max(column, float(width))
    return corners, left + column, lowest
