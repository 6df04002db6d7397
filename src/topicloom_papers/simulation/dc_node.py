"""The program of a node in a decentralised divide-and-conquer (star-merge §VI-C).

A node knows its topics, how many nodes and partitions there are, and the seed: from these it knows who is in which
partition, which takes the place of the paper's first step. Everything else it has to be told.

1. Members of a partition send each other their interests. Who has heard of all of them computes the inner links, and
   dials those of its own that lead to a higher number.
2. The first member of each partition that is not suspected speaks for it: it tells the other speakers which topics its
   partition has, chooses the star set for the topics that others have too, and tells them the star nodes with these.
3. It hands all star sets to the star nodes of its partition, and each of these computes and dials its outer links.

A peer that does not answer is suspected, and its partition is told; one that lives objects (as in SWIM) with a higher
count of its own. Whatever a node computes follows from what it believes at the time, and is computed again when that
changes: partitions whose members believe the same have consistent links.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from topicloom_papers.simulation.network import Down, Send, Up, Wake
from topicloom_papers.simulation.planning import Planning, StarTopics, Topics

INTEREST, SUSPECT, SUMMARY, STARS, GONE, LINK, DROP, PING = (
    "interest", "suspect", "summary", "stars", "gone", "link", "drop", "ping",
)  # fmt: skip
Version = tuple[int, int, int]
Message = tuple[Any, ...]


class World(NamedTuple):
    """What every node knows: who is in which partition, and the rules. Nodes look for peers ``watches`` times."""

    members: list[list[int]]
    partition: list[int]
    planning: Planning
    patience: float
    settle: float
    watches: int


class Summary(NamedTuple):
    """What a partition has told of itself: its topics, and its star set once that is known."""

    version: Version
    topics: Topics
    stars: StarTopics | None


class DcNode:
    """A node: what it has been told, and what it does about it."""

    def __init__(self, number: int, topics: Topics, world: World) -> None:
        self.number, self.topics, self.world = number, topics, world
        self.own = world.partition[number]
        self.mates = [node for node in world.members[self.own] if node != number]
        self.count = 0  # of objections
        self.interests: dict[int, Topics] = {number: topics}
        self.counts: dict[int, int] = {}
        self.suspects: dict[int, int] = {}
        self.missed: dict[int, list[Message]] = {}
        self.published_count = 0
        self.view: tuple[int, ...] = ()
        self.inner: set[int] = set()
        self.outer: set[int] = set()
        self.dialled: set[int] = set()
        self.accepted: set[int] = set()
        self.summaries: dict[int, Summary] = {}
        self.spoken_to: dict[int, int] = {}
        self.told_stars: set[int] = set()
        self.told: tuple[StarTopics, ...] | None = None
        self.heard: tuple[Version, tuple[StarTopics, ...]] | None = None
        self.sent = 0
        self.waiting = False
        self.watched = 0
        self.out: list[Send | Wake | Up | Down] = []

    # What happens to a node. Each returns what to do.

    def start(self) -> list[Send | Wake | Up | Down]:
        """Send the interest to the members of the partition."""
        self._tell(self.mates, INTEREST, self.count, self.topics)
        self.out.append(Wake(self.world.patience, "missing"))
        self._watch_later()
        self._refresh()
        return self._done()

    def receive(self, sender: int, message: Message) -> list[Send | Wake | Up | Down]:
        """Take a message."""
        kind, *body = message
        if self.world.partition[sender] != self.own:
            self.suspects.pop(sender, None)
        if kind == INTEREST:
            self._hear_interest(sender, *body)
        elif kind == SUSPECT:
            self._hear_suspicion(sender, *body)
        elif kind == SUMMARY:
            self._hear_summary(*body)
        elif kind == STARS:
            self._hear_stars(*body)
        elif kind == GONE:
            self._lose_partition(*body)
        elif kind == LINK:
            self.accepted.add(sender)
        elif kind == DROP:
            self.accepted.discard(sender)
        return self._done()

    def acknowledged(self, to: int, message: Message) -> list[Send | Wake | Up | Down]:
        """A link stands."""
        if to in self.dialled:
            self.out.append(Up(to))
        return self._done()

    def gave_up(self, to: int, message: Message) -> list[Send | Wake | Up | Down]:
        """Suspect a peer that did not answer."""
        if message[0] in (LINK, DROP, PING):
            self.accepted.discard(to)
        if self.world.partition[to] == self.own:
            self._suspect_mate(to, message)
        else:
            self._suspect_stranger(to, message)
        return self._done()

    def wake(self, what: str) -> list[Send | Wake | Up | Down]:
        """Look for what is missing, for peers that have gone, or hand on star sets that have changed."""
        if what == "watch":
            for peer in sorted((self.dialled | self.accepted | {self._speaker(self.own)}) - {self.number, -1}):
                self._send(peer, PING)
            self._watch_later()
        elif what == "settled":
            self.waiting = False
            self._hand_on()
        elif what == "missing":
            self._ask_for_missing()
        else:  # dial again
            peer = int(what)
            if peer in self.dialled:
                self._send(peer, LINK, told=True)
        return self._done()

    def _watch_later(self) -> None:
        self.watched += 1
        if self.watched <= self.world.watches:
            self.out.append(Wake(self.world.settle, "watch"))

    # Interests and suspicions within the partition.

    def _hear_interest(self, sender: int, count: int, topics: Topics) -> None:
        self.interests[sender] = topics
        self.counts[sender] = max(count, self.counts.get(sender, 0))
        if self.suspects.get(sender, -1) < count and self.suspects.pop(sender, None) is not None:
            for message in self.missed.pop(sender, []):
                self.out.append(Send(sender, message))
        self._refresh()

    def _hear_suspicion(self, sender: int, node: int, count: int) -> None:
        if node == self.number:
            if count >= self.count:
                self.count = count + 1
                self._tell(self.mates, INTEREST, self.count, self.topics)
                self._refresh()
        elif self.world.partition[node] == self.own and self._believe(node, count):
            if node in self.dialled | self.accepted or self.world.partition[sender] != self.own:
                self._spread(node, count)
            self._refresh()

    def _suspect_mate(self, node: int, message: Message) -> None:
        if message[0] in (INTEREST, SUSPECT):
            self.missed.setdefault(node, []).append(message)
        count = self.counts.get(node, 0)
        if self._believe(node, count):
            self._spread(node, count)
            self._refresh()

    def _believe(self, node: int, count: int) -> bool:
        """Suspect a mate. Returns False if that is known, or if it has objected since."""
        if self.suspects.get(node, -1) >= count or self.counts.get(node, 0) > count:
            return False
        self.suspects[node] = self.counts[node] = count
        self.accepted.discard(node)
        return True

    def _spread(self, node: int, count: int) -> None:
        told = [mate for mate in self.mates if mate == node or mate not in self.suspects]
        self._tell(told, SUSPECT, node, count)  # the suspect, too: it may live

    def _refresh(self) -> None:
        """Compute the inner links when all members are known or suspected."""
        if any(mate not in self.interests and mate not in self.suspects for mate in self.mates):
            return
        view = tuple(sorted(node for node in self.interests if node not in self.suspects))
        if view != self.view:
            self.view = view
            self.inner = self.world.planning.inner(view, self.interests).get(self.number, set())
            self._dial()
        if self._speaker(self.own) == self.number:
            self._publish()

    def _ask_for_missing(self) -> None:
        """Look after mates of whom nothing was heard, and speakers of whom not all was."""
        missing = [mate for mate in self.mates if mate not in self.interests and mate not in self.suspects]
        for mate in missing:
            self._send(mate, PING)
        if not missing and self._speaker(self.own) == self.number:
            for other in range(len(self.world.members)):
                known = self.summaries.get(other)
                if other != self.own and (known is None or known.stars is None):
                    missing.append(other)
                    self._speak_to(other)
        if missing or not self.view:
            self.out.append(Wake(self.world.patience, "missing"))

    # Between partitions.

    def _speaker(self, partition: int) -> int:
        """First member of a partition that is not suspected. Returns -1 if all are."""
        return next((node for node in self.world.members[partition] if node not in self.suspects), -1)

    def _publish(self) -> None:
        """Tell the other speakers what has changed, and the star nodes when all star sets are known."""
        topics = tuple(sorted({topic for node in self.view for topic in self.interests[node]}))
        others = [number for number in range(len(self.world.members)) if number != self.own]
        stars = None
        if all(number in self.summaries for number in others):
            elsewhere = {topic for number in others for topic in self.summaries[number].topics}
            stars = self.world.planning.stars(self.view, self.interests, frozenset(elsewhere.intersection(topics)))
        known = self.summaries.get(self.own)
        version = self._version()
        spoken = known is not None and known.version[1] == version[1] and self.published_count == self.count
        if not spoken or known is None or (known.topics, known.stars) != (topics, stars):
            self.published_count = self.count
            self.summaries[self.own] = Summary(version, topics, stars)
            for number in others:
                self._speak_to(number)
        self._hand_on_when_settled()

    def _version(self) -> Version:
        """A number that grows with what is known of the mates, then the rank of the speaker, then a counter."""
        known = 2 * self.count + sum(2 * self.counts.get(mate, 0) + (mate in self.suspects) for mate in self.mates)
        self.sent += 1
        return known, self.world.members[self.own].index(self.number), self.sent

    def _speak_to(self, partition: int) -> None:
        peer = self._speaker(partition)
        if peer < 0:
            self._lose_partition(partition)
        elif self.own in self.summaries:
            self.spoken_to[partition] = peer
            self._send(peer, SUMMARY, self.number, self.own, *self.summaries[self.own])

    def _hear_summary(self, speaker: int, partition: int, version: Version, topics: Topics, stars: Any) -> None:
        known = self.summaries.get(partition)
        if known is None or known.version < version:
            self.summaries[partition] = Summary(version, topics, stars)
        own_speaker = self._speaker(self.own)
        if own_speaker != self.number:
            self._send(own_speaker, SUMMARY, speaker, partition, version, topics, stars)
        elif self.view:
            if self.spoken_to.get(partition) != speaker and self.own in self.summaries:
                self.spoken_to[partition] = speaker
                self._send(speaker, SUMMARY, self.number, self.own, *self.summaries[self.own])
            self._publish()

    def _suspect_stranger(self, node: int, message: Message) -> None:
        """Suspect a node of another partition, and tell that partition. Go on with its next member."""
        partition = self.world.partition[node]
        self.suspects[node] = self.counts.get(node, 0)
        peer = self._speaker(partition)
        if peer < 0:
            self._lose_partition(partition)
        else:
            self._send(peer, SUSPECT, node, self.counts.get(node, 0))
            if message[0] == SUMMARY:
                self._speak_to(partition)
            elif message[0] == SUSPECT:
                self._send(peer, *message)
        if message[0] in (LINK, PING) and node in self.dialled:
            self.out.append(Wake(self.world.settle, str(node)))

    def _lose_partition(self, partition: int) -> None:
        """Take it that a whole partition is gone, and tell the other speakers."""
        gone = Summary((1 << 30, 0, 0), (), ())
        if partition == self.own or self.summaries.get(partition) == gone:
            return
        speaker = self._speaker(self.own)
        if speaker != self.number:
            self._send(speaker, GONE, partition)
            return
        self.summaries[partition] = gone
        for number in range(len(self.world.members)):
            peer = self._speaker(number)
            if number not in (self.own, partition) and peer >= 0:
                self._send(peer, GONE, partition)
        if self.view:
            self._publish()

    def _hand_on_when_settled(self) -> None:
        if self._all_stars() is None or self._all_stars() == self.told:
            return
        if self.told is None:
            self._hand_on()
        elif not self.waiting:
            self.waiting = True
            self.out.append(Wake(self.world.settle, "settled"))

    def _all_stars(self) -> tuple[StarTopics, ...] | None:
        """Star sets of all partitions, or None while one is unknown."""
        found = [self.summaries.get(number) for number in range(len(self.world.members))]
        stars = [summary.stars for summary in found if summary is not None and summary.stars is not None]
        return tuple(stars) if len(stars) == len(found) else None

    def _hand_on(self) -> None:
        """Give all star sets to the star nodes of the partition, and to those that were."""
        stars = self._all_stars()
        if stars is None or self._speaker(self.own) != self.number:
            return
        self.told = stars
        chosen = {node for node, _ in stars[self.own]}
        version = self._version()
        if self.number in chosen | self.told_stars:
            self._hear_stars(version, stars)
        told = sorted((chosen | self.told_stars) - {self.number, *self.suspects})
        self._tell(told, STARS, version, stars)
        self.told_stars = chosen

    def _hear_stars(self, version: Version, stars: tuple[StarTopics, ...]) -> None:
        if self.heard is None or self.heard[0] < version:
            self.heard = version, stars
            self.outer = self.world.planning.outer(stars).get(self.number, set())
            self._dial()

    # Links.

    def _dial(self) -> None:
        """Dial links that are wanted now, and close those that are not any more. The lower number dials."""
        wanted = {peer for peer in self.inner | self.outer if peer > self.number}
        for peer in sorted(wanted - self.dialled):
            self._send(peer, LINK, told=True)
        for peer in sorted(self.dialled - wanted):
            self._send(peer, DROP)
            self.out.append(Down(peer))
        self.dialled = wanted

    def _send(self, to: int, *message: Any, told: bool = False) -> None:
        self.out.append(Send(to, message, told))

    def _tell(self, peers: Iterable[int], *message: Any) -> None:
        self.out.extend(Send(peer, message) for peer in peers)

    def _done(self) -> list[Send | Wake | Up | Down]:
        out, self.out = self.out, []
        return out
