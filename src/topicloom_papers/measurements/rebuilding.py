"""What Low-ODA from scratch gives, and how many links it exchanges, over the same rounds of churn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from topicloom.methods.greedy.low_oda import low_oda
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import Churn
from topicloom_papers.measurements.churn_curves import tens
from topicloom_papers.measurements.measurement import Value, measures, require_connected
from topicloom_papers.printed.literal_gm import literal_greedy_merge
from topicloom_papers.printed.literal_low_oda import printed_low_oda
from topicloom_papers.printed.literal_shadow import RHO

Links = set[tuple[int, int]]
Build = Callable[[Sequence[int]], Links]  # from the nodes that are there to links by their numbers among everyone
IN_LISTS: Mapping[str, Callable[..., Any]] = {
    "gm": literal_greedy_merge,
    "low-oda": lambda indptr, topics, n_topics: printed_low_oda(indptr, topics, n_topics, RHO),
}


class Exchanged(NamedTuple):
    """Links that rebuilding exchanges in a round, their share of those before, and the topics of the node concerned."""

    round: int
    joins: bool
    links: int
    ratio: float
    topics: int


@measures("rebuild")
def rebuilt(cell: Cell) -> Iterator[Value]:
    """Measure degrees after every ``every`` rounds, and links exchanged against the round before.

    With ``ties="kept"`` a node keeps its place in the tie order as others come and go, as where equally good links are
    taken in the order of a list; with ``"drawn"`` the order is drawn again when the number of nodes changes, as
    `topicloom.design` does.
    """
    churn = Churn.of(cell)
    among = _in_place if cell.options["ties"] == "kept" else _restricted
    build = among(cell, churn.everyone, lambda interest: low_oda(interest, seed=cell.seed).links)
    found = []
    for one, (now, present) in _exchanged(churn, cell.options["every"], build):
        found.append(one)
        degree = np.bincount(np.array(list(now)).ravel(), minlength=churn.everyone.n_nodes)
        yield Value("max_degree", int(degree.max()), one.round)
        yield Value("average_degree", 2 * len(now) / present, one.round)
    yield from _means(found)
    for joins, name in ((True, "join"), (False, "leave")):
        for size in sorted({tens(one.topics) for one in found if one.joins == joins}):
            like = [one.ratio for one in found if one.joins == joins and tens(one.topics) == size]
            yield Value(f"{name}_ratio_by_size", fmean(like), size)


@measures("list-rebuild")
def rebuilt_in_lists(cell: Cell) -> Iterator[Value]:
    """Count links exchanged, after every ``every`` rounds, by a method that lists equally good links, newest first.

    The lists are made in the order of the nodes' numbers, which nobody's coming or going changes.
    """
    churn, method = Churn.of(cell), IN_LISTS[cell.method]
    build = _restricted(cell, churn.everyone, lambda one: method(one.indptr, one.topics, one.n_topics))
    yield from _means([one for one, _ in _exchanged(churn, cell.options["every"], build)])


def _exchanged(churn: Churn, every: int, build: Build) -> Iterator[tuple[Exchanged, tuple[Links, int]]]:
    """Yield, after every ``every`` rounds, what rebuilding exchanges, the new links and the number of nodes."""
    before: Links = set()
    built = -1  # the round after which `before` was
    for number, (turn, present) in enumerate(churn.present(), 1):
        if number % every == 0:
            if built != number - 1:
                before = build(list({*present} ^ {turn.node}))
            now = build(present)
            changed = len(before ^ now)
            topics = len(churn.everyone.topics_of(turn.node))
            yield Exchanged(number, turn.joins, changed, changed / max(len(before), 1), topics), (now, len(present))
            before, built = now, number


def _means(found: Sequence[Exchanged]) -> Iterator[Value]:
    """Links exchanged and repair ratios, the ratios also of the joins and of the leaves alone."""
    yield Value("links_exchanged", fmean(one.links for one in found))
    yield Value("repair_ratio", fmean(one.ratio for one in found))
    for joins, name in ((True, "join"), (False, "leave")):
        ratios = [one.ratio for one in found if one.joins == joins]
        if ratios:
            yield Value(f"{name}_repair_ratio", fmean(ratios))


def _restricted(cell: Cell, everyone: Interest, links_of: Callable[[Interest], Int32Array]) -> Build:
    """Build for the nodes that are there, renumbered in the order of their numbers among everyone."""

    def build(present: Sequence[int]) -> Links:
        nodes = np.sort(np.array(present))
        interest = everyone.restrict(nodes)
        links = links_of(interest)
        require_connected(cell, interest, links)
        return {(u, v) for u, v in nodes[links].tolist()}

    return build


def _in_place(cell: Cell, everyone: Interest, links_of: Callable[[Interest], Int32Array]) -> Build:
    """Building with nobody's number changed: who is not there stays, and wants nothing."""

    def build(present: Sequence[int]) -> Links:
        there = np.isin(everyone.nodes, np.array(present))
        interest = Interest.from_ids(
            everyone.nodes[there], everyone.topics[there], n_nodes=everyone.n_nodes, n_topics=everyone.n_topics
        )
        links = links_of(interest)
        require_connected(cell, interest, links)
        return {(u, v) for u, v in links.tolist()}

    return build
