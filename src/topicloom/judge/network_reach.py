"""Why a topic cannot be connected on a network: groups that cannot meet, and relays that would mend it."""

from collections.abc import Callable, Iterable, Sequence

from topicloom.model.forbidden import separated_sentence
from topicloom.model.site_network import Network

_MENDERS = 3
_MOST = 2_000  # carriers of a topic whose pairs are looked at


def separated(network: Network, subscribers: Iterable[str], topic: str, down: Iterable[str] = ()) -> list[list[str]]:
    """Split a topic's subscribers into groups that cannot meet, whatever links and permitted relays there are.

    There is one group when they can. Nodes that are down are left out. Takes O(subscribers × carriers) time.
    """
    out, wanted = set(down), set(subscribers)
    relays = {node.node for node in network.nodes if node.relay and _allowed(network, topic)(node.site)}
    waiting = (wanted | relays) - out
    groups = []
    for start in sorted(wanted - out):
        if start not in waiting:
            continue
        waiting.discard(start)
        group, frontier = [start], [start]
        while frontier and waiting:
            one = frontier.pop()
            reached = {other for other in waiting if network.linkable(one, other)}
            waiting -= reached
            group += reached
            frontier += reached
        groups.append(sorted(set(group) & wanted))
    return groups


def menders(network: Network, groups: Sequence[Sequence[str]], topic: str, down: Iterable[str] = ()) -> list[str]:
    """Nodes that may not relay, any one of which could join all groups if it might. The cheapest come first."""
    out, members = {*down, *(name for group in groups for name in group)}, list(groups)
    fine = _allowed(network, topic)
    found = []
    for node in network.nodes:
        if node.relay or node.node in out or not fine(node.site):
            continue
        prices = [min(network.price(node.node, other) for other in group) for group in members]
        if max(prices) < float("inf"):
            found.append((sum(prices), node.node))
    return [name for _, name in sorted(found)]


def reach_sentence(
    network: Network, topic: str, subscribers: Sequence[str], down: Sequence[str] = (), unit: str | None = None
) -> str | None:
    """Say which groups of a topic's subscribers cannot meet, and which relays would mend it.

    Returns None where they can, or where there are too many to look at.

    >>> nodes = [{"node": "a", "site": "x"}, {"node": "b", "site": "y"}, {"node": "c", "site": "z"}]
    >>> rows = [{"from": "x", "to": "z", "price": 2}, {"from": "z", "to": "y", "price": 2}]
    >>> reach_sentence(Network.from_tables(nodes, site_pairs=rows), "news", ["a", "b"])
    "topic 'news' cannot be connected: every link between {'a'} and {'b'} is forbidden; it could be if 'c' might relay"
    """
    if len(subscribers) > _MOST:
        return None
    groups = separated(network, subscribers, topic, down)
    if len(groups) < 2:
        return None
    named = menders(network, groups, topic, down)
    mend = f"; it could be if {' or '.join(map(repr, named[:_MENDERS]))} might relay" if named else ""
    without = "" if unit is None else f" (without {unit!r})"
    return separated_sentence(topic, groups) + without + mend


def _allowed(network: Network, topic: str) -> Callable[[str], bool]:
    """Whether a topic may be at a site."""
    rule = next((row.allowed_sites for row in network.topics if row.topic == topic), None)
    return lambda site: rule is None or site in rule
