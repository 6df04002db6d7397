"""Churn that is not random: the hub leaves, a rack fails, a crowd comes for one topic and goes again."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from topicloom.churn import Maintainer
from topicloom.methods.greedy.low_oda import low_oda
from topicloom.model import Interest, Overlay
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import drawn
from topicloom_papers.measurements.measurement import Value, measures, require_connected

RACK = 20  # nodes that fail at once
Events = list[dict[str, Any]]


@measures("adversity")
def adversity(cell: Cell) -> Iterator[Value]:
    """Degrees over the rounds of a scene (shadows), each look judged, beside those of Low-ODA from scratch."""
    rounds, every = int(cell.options["rounds"]), int(cell.options["every"])
    nodes = int(cell.workload["nodes"])
    everyone = drawn({**cell.workload, "nodes": nodes + rounds}, cell.seed)
    interest = everyone.restrict(np.arange(nodes))
    maintainer = Maintainer(interest, low_oda(interest, seed=cell.seed), policy="shadow", seed=cell.seed)
    changed, most, above, average = 0, 0, [], []
    for number, batch in enumerate(_batches(cell.options["scene"], maintainer, everyone, nodes, rounds, cell.seed), 1):
        moved = 0
        for event in batch:
            change = maintainer.apply([event])
            moved += len(change.added) + len(change.removed)
        changed, most = changed + moved, max(most, moved)
        if number % every == 0:
            now = maintainer.overlay
            require_connected(cell, now.interest, now.links)
            fresh = low_oda(now.interest, seed=cell.seed)
            above.append(int(now.degree().max()) / int(fresh.degree().max()))
            average.append(float(now.degree().mean() / fresh.degree().mean()))
            yield Value("max_degree", int(now.degree().max()), number)
            yield Value("average_degree", float(now.degree().mean()), number)
            yield Value("max_degree_of_fresh", above[-1], number)
    yield Value("worst_max_degree_of_fresh", max(above))
    yield Value("mean_average_degree_of_fresh", float(np.mean(average)))
    yield Value("links_changed_per_event", changed / maintainer.events_applied)
    yield Value("most_links_changed_in_a_round", most)


def _batches(
    scene: str, maintainer: Maintainer, everyone: Interest, nodes: int, rounds: int, seed: int
) -> Iterator[Events]:
    """Events of each round. As many nodes come as go, but for the crowd: it comes for half of the rounds."""
    draw = random.Random(seed)
    newcomers = iter(range(nodes, nodes + rounds))
    crowd: list[str] = []
    for number in range(rounds):
        if scene == "crowd" and number < rounds // 2:
            joined = _join(everyone, next(newcomers))
            crowd.append(joined["node"])
            yield [{**joined, "topics": sorted({everyone.topic_label(0), *joined["topics"][:2]})}]
        elif scene == "crowd":
            yield _leave([crowd.pop()])
        elif scene == "rack" and number % RACK == RACK - 1:
            yield _leave(_rack(maintainer.overlay, draw))
        elif scene == "rack" or number % 2 == 0:
            yield [_join(everyone, next(newcomers))]
        else:
            overlay = maintainer.overlay
            degrees = overlay.degree()
            gone = int(np.argmax(degrees)) if scene == "hub" else draw.randrange(len(degrees))
            yield _leave([overlay.interest.node_label(gone)])


def _rack(overlay: Overlay, draw: random.Random) -> list[str]:
    """Twenty nodes that a search from a drawn one over the links reaches first."""
    near: dict[int, list[int]] = {}
    for one, other in overlay.links.tolist():
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    found = [draw.randrange(overlay.interest.n_nodes)]
    for node in found:
        found += [other for other in near.get(node, ()) if other not in found]
        if len(found) >= RACK:
            break
    return [overlay.interest.node_label(node) for node in found[:RACK]]


def _leave(names: list[str]) -> Events:
    return [{"event": "leave", "node": name} for name in names]


def _join(everyone: Interest, node: int) -> dict[str, Any]:
    topics = [everyone.topic_label(topic) for topic in everyone.topics_of(node).tolist()]
    return {"event": "join", "node": everyone.node_label(node), "topics": topics}
