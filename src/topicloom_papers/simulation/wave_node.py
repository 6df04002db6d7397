"""The part of a shadow's program that finds out which pieces of a topic hang together further away.

The one that leads a repair numbers the pieces that it can tell apart, and has a *wave* run from them: every node that
the wave reaches takes the number of the piece from which it came, and passes it on to its neighbours that want the
topic. Where two numbers meet, two pieces are one. Each message of the wave is answered when all messages that followed
from it are, so that the leader knows when the wave is over. It ends after a few links in every direction: pieces that
meet only beyond count as apart.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from topicloom_papers.simulation.backup_node import BackupNode, Effect
from topicloom_papers.simulation.network import Send
from topicloom_papers.simulation.shadow_planning import Numbers, RepairRule

PROBE, ECHO = "probe", "echo"
Labels = tuple[tuple[int, int], ...]  # topics, and the number of a piece of each
Meeting = tuple[int, int, int]  # a topic, and the numbers of two pieces of it that are one


@dataclass
class _Request:
    """A message of a wave that is to be answered: by whom it was sent, its key there, and whose answers are missing."""

    asker: int
    key: int
    waiting: set[int]
    met: set[Meeting]


class WaveNode(BackupNode, ABC):
    """A node, and how it passes waves on."""

    def __init__(self, number: int, topics: Numbers, rule: RepairRule) -> None:
        super().__init__(number, topics, rule)
        self.requests: dict[int, _Request] = {}
        self.labels: dict[tuple[int, int], dict[int, int]] = {}
        self.keys = self.root = self.wave = 0

    def begin_wave(self, pieces: Mapping[int, Labels]) -> list[Effect]:
        """Send a wave out from nodes that this one knows, each with the numbers of its pieces."""
        self.wave += 1
        self.keys += 1
        self.root = key = self.keys
        self.requests[key] = _Request(self.number, 0, set(pieces), set())
        out: list[Effect] = []
        for node, labels in sorted(pieces.items()):
            message = (PROBE, self.number, self.wave, key, self.rule.reach, labels)
            out += self.probed(self.number, *message[1:]) if node == self.number else [Send(node, message)]
        return out

    def probed(self, sender: int, leader: int, wave: int, key: int, reach: int, labels: Labels) -> list[Effect]:
        """Take the numbers of pieces, and pass on those that are new."""
        known, new, met = self.labels.setdefault((leader, wave), {}), {}, set()
        for topic, label in labels:
            if topic not in known:
                known[topic] = new[topic] = label
            elif known[topic] != label:
                met.add((topic, min(known[topic], label), max(known[topic], label)))
        self.keys += 1
        request = _Request(sender, key, set(), met)
        self.requests[self.keys] = request
        out: list[Effect] = []
        for peer, wanted in sorted(self.neighbours.items()) if reach and new else ():
            shared = tuple((topic, label) for topic, label in sorted(new.items()) if topic in wanted)
            if shared and peer != sender and peer not in self.away:
                request.waiting.add(peer)
                out.append(Send(peer, (PROBE, leader, wave, self.keys, reach - 1, shared)))
        return out or self.echoed(self.number, self.keys, ())

    def echoed(self, sender: int, key: int, met: Iterable[Meeting]) -> list[Effect]:
        """Take an answer, or do without it, and answer when it was the last one."""
        request = self.requests.get(key)
        if request is None:
            return []
        request.waiting.discard(sender)
        request.met.update(met)
        if request.waiting:
            return []
        del self.requests[key]
        if request.key == 0:
            return self.wave_over(request.met) if key == self.root else []
        if request.asker == self.number:
            return self.echoed(self.number, request.key, request.met)
        return [Send(request.asker, (ECHO, request.key, tuple(sorted(request.met))))]

    @abstractmethod
    def wave_over(self, met: set[Meeting]) -> list[Effect]:
        """Learn which pieces are one."""
