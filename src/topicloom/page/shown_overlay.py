"""Everything that a page shows of an overlay, as arrays and facts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.judge import verify, weak_nodes
from topicloom.measures import NetworkCosts, measure_network, measure_topics
from topicloom.measures.summary import summarize
from topicloom.model import Interest, Metrics, Overlay, Verdict
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.page.node_places import Places, layout
from topicloom.routing import Routes

MOST_GROUPS = 7
_SAMPLED_ABOVE = 20_000  # subscribers of a topic


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each node is drawn in.

    Attributes
    ----------
    names : tuple of str
    of : int64 array
        Number of the group of each node.
    word : str
        What the groups are, such as ``site``.
    """

    names: tuple[str, ...]
    of: Int64Array
    word: str


@dataclass(frozen=True, eq=False)
class Picture:
    """An overlay with all that a page says about it.

    Attributes
    ----------
    title : str
    overlay : Overlay
    verdict : Verdict
        The judge's, on the links that are shown.
    metrics : Metrics
    diameters : int64 array
        Of each topic; -1 is infinite.
    sampled : bool array
        Where a diameter is a lower bound.
    routes : Routes or None
        Trees of the topics, where there is a plan.
    before : (m, 2) int32 array or None
        The links before a change.
    compared : sequence of mappings
        Rows of ``topicloom compare``, as its ``results.json`` holds them.
    groups : Groups
    costs : NetworkCosts or None
        What it costs on its network, where it has one.
    """

    title: str
    overlay: Overlay
    verdict: Verdict
    metrics: Metrics
    diameters: Int64Array
    sampled: npt.NDArray[np.bool_]
    routes: Routes | None
    before: Int32Array | None
    compared: Sequence[Mapping[str, Any]]
    groups: Groups
    costs: NetworkCosts | None = None

    @cached_property
    def node_names(self) -> list[str]:
        """Names of the nodes, in the order of their ids."""
        return _names(self.overlay.interest.node_labels, self.overlay.interest.n_nodes)

    @cached_property
    def topic_names(self) -> list[str]:
        """Names of the topics, in the order of their ids."""
        return _names(self.overlay.interest.topic_labels, self.overlay.interest.n_topics)

    @cached_property
    def links(self) -> Int32Array:
        """The links, sorted by their ends."""
        links = self.overlay.links
        return links[np.lexsort((links[:, 1], links[:, 0]))]

    @cached_property
    def weak(self) -> list[tuple[int, int, int]]:
        """Single points of failure, the worst first: node id, topics cut, pairs of subscribers lost."""
        interest = self.overlay.interest
        numbers = {name: number for number, name in enumerate(map(interest.node_name, range(interest.n_nodes)))}
        found = weak_nodes(interest, self.links, top=None)
        return [(numbers[weak.node], weak.topics_cut, weak.lost_pairs) for weak in found]

    @cached_property
    def places(self) -> Places:
        """Where each node stands."""
        radius = 4.0 + 1.7 * np.sqrt(self.overlay.degree())
        group = self.groups.of if len(self.groups.names) > 1 else None
        return layout(self.overlay.interest.n_nodes, self.links, radius=radius, group=group)

    @cached_property
    def tree(self) -> npt.NDArray[np.bool_] | None:
        """Whether each topic that a link could serve uses it: a cell for each link and each topic that its ends share.

        None without a plan.
        """
        if self.routes is None:
            return None
        interest, routes = self.overlay.interest, self.routes
        key = self.links[:, 0].astype(np.int64) * interest.n_nodes + self.links[:, 1]
        rows = routes.src.astype(np.int64) * interest.n_nodes + routes.dst
        row = np.searchsorted(key, rows) * interest.n_topics + routes.topic
        could = _shared_keys(interest, self.links)
        return np.isin(could, row[routes.active])


def gather(
    overlay: Overlay,
    *,
    title: str,
    routes: Routes | None = None,
    before: Int32Array | None = None,
    compared: Sequence[Mapping[str, Any]] = (),
    sites: Mapping[str, str] | None = None,
) -> Picture:
    """Judge and measure an overlay, and put together what a page shows of it.

    Parameters
    ----------
    overlay : Overlay
    title : str
    routes : Routes, optional
        A plan of this overlay.
    before : (m, 2) int32 array, optional
        Links between the same nodes that the overlay replaces.
    compared : sequence of mappings
        Rows of a comparison.
    sites : mapping of str to str, optional
        Site of each node by name. Without it, nodes are grouped by the sites of the overlay's network, or else by the
        first part of their names.

    Returns
    -------
    Picture
    """
    costs = None if overlay.network is None else measure_network(overlay)
    if sites is None and overlay.network is not None and len(overlay.network.site_names) > 1:
        sites = {node.node: node.site for node in overlay.network.nodes}
    if len(overlay.relays):  # a relay is drawn as one of those that a topic has to reach
        members = overlay.carried if routes is None else routes.interest
        overlay = replace(overlay, interest=members, relays=np.empty((0, 2), np.int32))
    interest = overlay.interest
    per_topic = measure_topics(interest, overlay.links, exact_up_to=_SAMPLED_ABOVE)
    return Picture(
        title=title,
        overlay=overlay,
        verdict=verify(interest, overlay.links),
        metrics=summarize(interest, overlay.links, per_topic),
        diameters=per_topic.diameter,
        sampled=per_topic.sampled,
        routes=routes,
        before=before,
        compared=compared,
        groups=_groups(interest, sites),
        costs=costs,
    )


def _groups(interest: Interest, sites: Mapping[str, str] | None) -> Groups:
    names = _names(interest.node_labels, interest.n_nodes)
    if sites is not None:
        return _most_common([sites.get(name, "") or "no site" for name in names], "site", MOST_GROUPS)
    parts = [name.strip("/").split("/")[0] if "/" in name.strip("/") else "" for name in names]
    if not any(parts):
        return Groups((), np.zeros(len(names), np.int64), "")
    return _most_common([part or "other" for part in parts], "first part of the name", MOST_GROUPS)


def _most_common(labels: list[str], word: str, most: int) -> Groups:
    """Number the most common labels, the rest together as ``other``."""
    counts = Counter(labels)
    common = sorted((label for label in counts if label != "other"), key=lambda label: (-counts[label], label))
    kept = common if len(common) <= most + 1 and "other" not in counts else common[:most]
    names = tuple(kept) if set(labels) <= set(kept) else (*kept, "other")
    number = {name: place for place, name in enumerate(names)}
    return Groups(names, np.array([number.get(label, len(kept)) for label in labels], np.int64), word)


def _names(labels: npt.ArrayLike | None, count: int) -> list[str]:
    return [str(number) for number in range(count)] if labels is None else [str(label) for label in np.asarray(labels)]


def _shared_keys(interest: Interest, links: Int32Array) -> Int64Array:
    """Return link · topics + topic for each link and each topic that both ends want, ascending."""
    counts = np.diff(interest.indptr)[links[:, 0]]
    link = np.repeat(np.arange(len(links)), counts)
    first = interest.indptr[links[:, 0]] - np.concatenate([[0], np.cumsum(counts)[:-1]])
    topic = interest.topics[np.arange(len(link)) + np.repeat(first, counts)].astype(np.int64)
    wanted = interest.nodes.astype(np.int64) * interest.n_topics + interest.topics
    asked = links[link, 1].astype(np.int64) * interest.n_topics + topic
    found = np.searchsorted(wanted, asked)
    both = wanted[np.minimum(found, len(wanted) - 1)] == asked
    keys: Int64Array = link[both] * interest.n_topics + topic[both]
    return keys
