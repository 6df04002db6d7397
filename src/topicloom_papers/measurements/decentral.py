"""Protocols without a centre, simulated message by message."""

from collections.abc import Iterator

import numpy as np

from topicloom.methods.dc.divide_and_conquer import divide_and_conquer
from topicloom.methods.greedy.low_oda import low_oda
from topicloom.model import Overlay
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import interest_of
from topicloom_papers.measurements.measurement import NotVerifiedError, Value, measures
from topicloom_papers.simulation import Faults, simulate_dc, simulate_leaves


@measures("decentral-dc")
def decentral_dc(cell: Cell) -> Iterator[Value]:
    """Messages, bytes, interests learnt, rounds and time of a decentralised divide-and-conquer."""
    interest, options = interest_of(cell), dict(cell.options)
    partitions = options.pop("partitions")
    run = simulate_dc(interest, partitions=partitions, faults=Faults(**options), seed=cell.seed)
    if not run.verdict.ok or run.connected_at is None:
        raise NotVerifiedError(f"cell {cell.text}: {next(iter(run.reasons.items()))}")
    n = interest.n_nodes
    traffic = run.traffic
    yield Value("links_of_centre", run.overlay.n_links / _central_links(cell, partitions))
    yield Value("messages_per_node", sum(traffic.messages.values()) / n)
    yield Value("watching_per_node", traffic.messages["ping"] / n)
    yield Value("tries_per_node", traffic.tries / n)
    yield Value("kilobytes_per_node", sum(traffic.bytes.values()) / n / 1000)
    yield Value("rounds", run.rounds)
    yield Value("connected_at", run.connected_at)
    for name, ratios in run.pn_ratios().items():
        if len(ratios):
            yield Value(f"pn_ratio_{name}", float(np.mean(ratios)))
            yield Value(f"pn_ratio_{name}_most", float(np.max(ratios)))
    yield Value("star_share", float(run.stars.sum()) / n)


@measures("decentral-leaves")
def decentral_leaves(cell: Cell) -> Iterator[Value]:
    """Messages, links and time when nodes leave and shadows repair alone, beside a maintainer that sees all.

    With ``rack`` above 1 that many neighbouring nodes fail at once.
    """
    from topicloom.churn import Maintainer

    interest, options = interest_of(cell), dict(cell.options)
    overlay = low_oda(interest, seed=cell.seed)
    rack_size = options.pop("rack")
    racks = _racks(overlay, rack_size)
    run = simulate_leaves(interest, overlay, racks, faults=Faults(**options), seed=cell.seed)
    if rack_size == 1 and not all(leave.ok for leave in run.leaves):
        raise NotVerifiedError(f"cell {cell.text}: {next(iter(run.reasons.items()), 'a leave was not repaired')}")
    centre = Maintainer(interest, overlay, seed=cell.seed)
    central = sum(len(centre.apply([{"event": "leave", "node": name} for name in rack]).added) for rack in racks)
    count = len(racks)
    yield Value("messages_per_leave", sum(leave.messages for leave in run.leaves) / count)
    yield Value("kilobytes_per_leave", sum(leave.bytes for leave in run.leaves) / count / 1000)
    yield Value("shadows", sum(leave.shadows for leave in run.leaves) / count)
    yield Value("links_per_leave", sum(leave.links for leave in run.leaves) / count)
    yield Value("central_links_per_leave", central / count)
    yield Value("repair_time", float(np.mean([leave.time for leave in run.leaves])))
    yield Value("rounds", float(np.mean([leave.rounds for leave in run.leaves])))
    yield Value("renewed", sum(leave.renewed for leave in run.leaves) / count)
    yield Value("upkeep_messages", sum(leave.upkeep_messages for leave in run.leaves) / count)
    yield Value("upkeep_kilobytes", sum(leave.upkeep_bytes for leave in run.leaves) / count / 1000)
    yield Value("broken_topics", float(len(run.reasons)))
    yield Value("uncovered", float(run.leaves[-1].uncovered))


def _racks(overlay: Overlay, size: int) -> list[list[str]]:
    """Every fiftieth node, or each two hundredth with those nearest to it by links, ``size`` in all."""
    interest = overlay.interest
    peers: list[list[int]] = [[] for _ in range(interest.n_nodes)]
    for u, v in overlay.links.tolist():
        peers[u].append(v)
        peers[v].append(u)
    racks: list[list[str]] = []
    gone: set[int] = set()
    for first in range(0, interest.n_nodes, 50 if size == 1 else 200):
        near = [] if first in gone else [first]
        for node in near:
            near += [peer for peer in peers[node] if peer not in gone and peer not in near]
            if len(near) >= size:
                break
        gone.update(near[:size])
        racks += [[interest.node_label(v) for v in near[:size]]] if near else []
    return racks


def _central_links(cell: Cell, partitions: int) -> int:
    return divide_and_conquer(interest_of(cell), partitions=partitions, seed=cell.seed).n_links
