"""Degrees, diameters and reports of overlays that a method designs or joins, and steps of the printed algorithm."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from topicloom.measures import measure
from topicloom.methods.dc.join import join
from topicloom.methods.greedy.greedy_merge import greedy_merge
from topicloom.methods.registry import design
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int32Array
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import interest_of
from topicloom_papers.measurements.measurement import NotVerifiedError, Value, measures, require_connected
from topicloom_papers.printed.literal_gm import counted_greedy_merge, literal_greedy_merge
from topicloom_papers.printed.literal_gm2 import printed_gm2
from topicloom_papers.printed.literal_low_oda import printed_low_oda

# The connectivity that the judge looks for; harary-pt's is its option k.
_CONNECTIVITY = {"gm2": 2, "printed-gm2": 2, "cycle-pt": 2, "ring-pt": 2}
# Methods with equally good links in lists, as the papers' algorithms have or may have them.
_IN_LISTS: Mapping[str, Callable[..., Int32Array]] = {
    "literal": literal_greedy_merge,
    "printed-low-oda": printed_low_oda,
    "printed-gm2": printed_gm2,
}
_TWO_HOPS = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")


@measures("design")
def designed(cell: Cell) -> Iterator[Value]:
    """Measure links and degrees of a design, and with ``dc`` star sets, inner and outer links and pn-ratio."""
    yield from degrees(_overlay(cell))


@measures("diameters")
def with_diameters(cell: Cell) -> Iterator[Value]:
    """The same, and the mean and largest topic diameter."""
    overlay = _overlay(cell)
    metrics = measure(overlay.interest, overlay.links)
    if metrics.mean_topic_diameter is None or metrics.max_topic_diameter is None:
        raise NotVerifiedError(f"cell {cell.text}: some topic has no diameter")
    if cell.method in _TWO_HOPS and metrics.max_topic_diameter > 2:
        raise NotVerifiedError(f"cell {cell.text}: a topic has diameter {metrics.max_topic_diameter}")
    yield from degrees(overlay)
    yield Value("mean_topic_diameter", metrics.mean_topic_diameter)
    yield Value("max_topic_diameter", metrics.max_topic_diameter)


def degrees(overlay: Overlay) -> Iterator[Value]:
    """Values of an overlay that cost nothing."""
    degree = overlay.degree()
    yield Value("links", overlay.n_links)
    yield Value("average_degree", float(degree.mean()) if len(degree) else 0.0)
    yield Value("max_degree", int(degree.max(initial=0)))
    report = overlay.report
    for name in ("inner_links", "outer_links", "pn_ratio", "star_nodes"):
        if name in report:
            yield Value(name, report[name])
    for name, value in report.get("star_set", {}).items():
        yield Value(f"star_set_{name}", value)


def _overlay(cell: Cell) -> Overlay:
    interest = interest_of(cell)
    if cell.method in _IN_LISTS:
        links = _IN_LISTS[cell.method](interest.indptr, interest.topics, interest.n_topics, **cell.options)
        overlay = Overlay(interest, links, cell.method)
    else:
        overlay = design(interest, cell.method, seed=cell.seed, **cell.options)
    k = cell.options.get("k", _CONNECTIVITY.get(cell.method, 1))
    require_connected(cell, interest, overlay.links, k if cell.method != "repeated-gm" else 1)
    return overlay


@measures("steps")
def steps(cell: Cell) -> Iterator[Value]:
    """Contributions that the literal Greedy Merge counts at first and lowers later, over |V|²|T|."""
    interest = interest_of(cell)
    links, counted, lowered = counted_greedy_merge(interest.indptr, interest.topics, interest.n_topics)
    require_connected(cell, interest, links)
    worst = interest.n_nodes**2 * interest.n_topics
    yield Value("steps_share", (counted + lowered) / worst)
    yield Value("counted_share", counted / worst)
    yield Value("lowered_share", lowered / worst)
    yield Value("average_degree", 2 * len(links) / interest.n_nodes)


MEMBERS = 100  # nodes of a sub-overlay


@measures("join")
def joined(cell: Cell) -> Iterator[Value]:
    """Degrees, outer links and pn-ratio of Star Merge or Naive Merge."""
    overlay = join(sub_overlays(interest_of(cell), cell.seed), method=cell.method, seed=cell.seed)
    require_connected(cell, overlay.interest, overlay.links)
    yield from degrees(overlay)
    stars = [part["stars"] for part in overlay.report["overlays"]]
    yield Value("star_set_mean", float(np.mean(stars)))


def sub_overlays(interest: Interest, seed: int) -> list[tuple[Interest, Overlay]]:
    """The interest cut into pieces of 100 nodes, each with its Greedy Merge overlay."""
    pieces = np.array_split(np.arange(interest.n_nodes), max(interest.n_nodes // MEMBERS, 1))
    interests = [interest.restrict(piece) for piece in pieces]
    return [(piece, greedy_merge(piece, seed=seed)) for piece in interests]
