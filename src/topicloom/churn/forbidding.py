"""Keep off forbidden links while nodes come and go, and find the events that would leave a topic cut by them."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.churn.events import JOIN, LEAVE, SUBSCRIBE, Event
from topicloom.churn.state import OverlayState
from topicloom.model import ForbiddenLinks, Interest
from topicloom.model.arrays import Int32Array
from topicloom.model.forbidden import separated_sentence


class Fence:
    """The forbidden links of an overlay under churn, by slots of its state."""

    def __init__(self, state: OverlayState, forbidden: ForbiddenLinks) -> None:
        self._state, self.forbidden = state, forbidden

    def __bool__(self) -> bool:
        return bool(self.forbidden)

    def allowed(self, node: int, others: Int32Array) -> Int32Array:
        """Return those of other nodes that a node may be linked to, in their order."""
        if not self.forbidden:
            return others
        names = [self._state.nodes.label(other) for other in others.tolist()]
        fine = self.forbidden.allowed(self._state.nodes.label(node), set(names))
        kept: npt.NDArray[np.bool_] = np.fromiter((name in fine for name in names), bool, len(names))
        return others[kept]

    def pairs(self, nodes: Int32Array) -> Int32Array:
        """Return the forbidden pairs among some nodes, as positions in ``nodes``."""
        labels = map(self._state.nodes.label, nodes.tolist())
        return self.forbidden.ids({label: position for position, label in enumerate(labels)})

    def among(self, interest: Interest) -> Int32Array:
        """Return the forbidden pairs of nodes of an interest."""
        return self.forbidden.among(interest)

    def watch(self) -> "Watch":
        """Begin to look at events that are to be applied one after the other."""
        return Watch(self._state, self.forbidden)


class Watch:
    """Says of events, one after the other, whether forbidden links would leave a topic in pieces.

    Each is asked about as if it came alone, also where several nodes leave at once.
    """

    def __init__(self, state: OverlayState, forbidden: ForbiddenLinks) -> None:
        self._state, self._forbidden = state, forbidden
        self._members: dict[str, set[str]] = {}

    def why_not(self, event: Event, wanted_by: Callable[[str], frozenset[str] | None]) -> str | None:
        """Say why an event cannot be applied, or take note of it and return None. ``wanted_by`` tells a node's topics.

        The subscribers of each topic can be connected before the event, by links that are allowed.
        """
        if not self._forbidden:
            return None
        if event.event in (JOIN, SUBSCRIBE):
            topics, alone = event.topics, {event.node}
            after = {topic: self._subscribers(topic) | alone for topic in topics}
        else:
            topics = tuple(sorted(wanted_by(event.node) or ())) if event.event == LEAVE else event.topics
            after = {topic: self._subscribers(topic) - {event.node} for topic in topics}
        for topic, members in after.items():
            groups = self._forbidden.groups(members)
            if len(groups) > 1:
                return f"node {event.node!r} cannot {event.event}: {separated_sentence(topic, groups)}"
        self._members |= after
        return None

    def _subscribers(self, topic: str) -> set[str]:
        if topic not in self._members:
            slot = self._state.topics.number.get(topic)
            slots = [] if slot is None else self._state.members.of(slot).tolist()
            self._members[topic] = set(map(self._state.nodes.label, slots))
        return self._members[topic]
