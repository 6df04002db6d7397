"""Why a topic is in pieces after nodes have failed and others have repaired what they could.

What is said follows from the record of the simulation alone: who was linked to whom, what those that stay had been told
of those that failed, who heard of which failure, and which messages were given up.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from topicloom.model import Interest
from topicloom_papers.simulation.network import Lost
from topicloom_papers.simulation.shadow_planning import Told


@dataclass(frozen=True)
class LeaveRecord:
    """What was so when nodes failed.

    Attributes
    ----------
    interest : Interest
    gone : set of int
        Who failed.
    before : sequence of sets of int
        The neighbours of each node.
    known : mapping from int to mapping from int to Told
        For each of ``gone`` those that stay who knew what it had told, with that.
    """

    interest: Interest
    gone: Set[int]
    before: Sequence[Set[int]]
    known: Mapping[int, Mapping[int, Told]]

    def reason(self, topic: int, links: Sequence[Set[int]], heard: Mapping[int, Set[int]], lost: Sequence[Lost]) -> str:
        """Say why a topic is in pieces.

        ``links`` are those that stand, ``heard`` says of which failures each node that stays has heard, ``lost`` are
        the messages of the repair that were given up.
        """
        wanting = set(self.interest.subscribers(topic).tolist())
        stay = wanting & heard.keys()
        side = _pieces(stay, lambda node: links[node] & stay)
        failed = wanting & self.gone
        strangers = {node for node in failed if not self.known[node]}

        def told(node: int) -> set[int]:
            """Whom those that stay took for neighbours of one that failed."""
            return {peer for one in self.known[node].values() for peer in one.neighbours}

        def connected(through: Set[int], peers: Callable[[int], Iterable[int]]) -> bool:
            """Whether the pieces were one, by way of failed nodes of which some were neighbours of each other."""
            met: dict[int, set[int]] = {}
            for node in through:
                for peer in peers(node):
                    end = side.get(peer, ~peer)  # failed nodes as negative numbers
                    if peer in side or peer in through:
                        met.setdefault(~node, set()).add(end)
                        met.setdefault(end, set()).add(~node)
            pieces = set(side.values())
            return len(set(_pieces(pieces | met.keys(), lambda one: met.get(one, set())).values())) == 1

        if not connected(failed, lambda node: self.before[node]):
            return "it was in pieces before"
        if not connected(failed - strangers, lambda node: self.before[node]):
            names = self._names(strangers)
            return f"no node that stays was a neighbour or backup of {names}, which held its pieces together"
        if not connected(failed - strangers, told):
            return f"what nodes that stay had been told of the neighbours of {self._names(failed)} was out of date"
        ends = {node for one in failed for node in self.known[one].keys() | self.before[one]} & heard.keys()
        for kind, sender, to, arrived in sorted(lost, key=lambda one: one.arrived):
            if to in heard and {sender, to} & ends:
                what = "acknowledgements" if arrived else "tries"
                ways = f"from {self._names([sender])} to {self._names([to])}"
                return f"all {what} of a message ({kind}) {ways}, which is there, were lost"
        if not any(failed <= known for known in heard.values()):
            parts = _pieces(heard.keys(), lambda node: links[node] & heard.keys())
            apart = len({parts[node] for node in ends}) > 1
            why = "the overlay between them fell apart" if apart else "nobody heard of all of these failures"
            return f"of {self._names(failed)} different nodes knew, and {why}"
        knower = min(node for node, known in heard.items() if failed <= known)
        return f"{self.interest.node_label(knower)!r} heard of all that failed, and did not connect its pieces"

    def _names(self, nodes: Iterable[int]) -> str:
        names = [repr(self.interest.node_label(node)) for node in sorted(nodes)]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _pieces(nodes: Iterable[int], peers: Callable[[int], Iterable[int]]) -> dict[int, int]:
    """The lowest node of the piece in which each node lies."""
    piece: dict[int, int] = {}
    for first in sorted(nodes):
        if first not in piece:
            piece[first] = first
            rest = [first]
            while rest:
                new = [peer for peer in peers(rest.pop()) if peer not in piece]
                piece.update(dict.fromkeys(new, first))
                rest += new
    return piece
