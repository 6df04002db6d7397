"""The part of a shadow's program that keeps backups (shadows §V, Step III).

A node whose backup has gone is asked to renew its backups by the one that led the repair. It then

1. seeks candidates: it asks its neighbours and backups, then the neighbours of these that share a topic with it, and so
   on, until each of its topics has candidates enough or nobody new is left. Since a topic's subscribers are connected,
   asking on finds all of them;
2. chooses among the candidates by the rule of `Maintainer`, from the links and primaries that they report;
3. tells the new backups and those that it releases, and says that it is done.

A node whose neighbours or backups have changed tells them a while later. These know then what to do when it goes.
"""

from typing import Any

from topicloom_papers.simulation.network import Send, Up, Wake
from topicloom_papers.simulation.shadow_planning import Numbers, Offer, RepairRule, Told, chosen_backups

RENEW, RENEWED, SEEK, OFFER, BACKUP, RELEASE, TELL = "renew", "renewed", "seek", "offer", "backup", "release", "tell"
UPKEEP = (RENEW, RENEWED, SEEK, OFFER, BACKUP, RELEASE, TELL)
LATE = 100  # times patience: when a node renews its backups that nobody has asked to
NOBODY = -1
HEIRS = 3  # neighbours that know of whom a node is a backup: the first that would lead
Message = tuple[Any, ...]
Effect = Send | Wake | Up


class BackupNode:
    """A node's lists, and how it renews its backups."""

    def __init__(self, number: int, topics: Numbers, rule: RepairRule) -> None:
        self.number, self.topics, self.rule = number, topics, rule
        self.wanted = frozenset(topics)
        self.neighbours: dict[int, frozenset[int]] = {}
        self.backups: set[int] = set()
        self.primaries: set[int] = set()
        self.told: dict[int, Told] = {}
        self.away: set[int] = set()  # who has gone, as far as this node knows
        self.build = 0
        self.renewed = 0
        self.queue: list[tuple[int, int]] = []  # renewals asked for: their numbers, and by whom
        self.offers: dict[int, Offer] = {}
        self.seen: set[int] = set()
        self.open: set[int] = set()
        self.contacts: set[int] = set()
        self.untold: set[int] = set()
        self.refused = self.telling = self.all_told = False

    def own(self) -> Told:
        """What this node tells of itself."""
        lists = self.neighbours, self.backups, self.primaries
        return Told(self.topics, *(tuple(sorted(nodes)) for nodes in lists))

    def strike(self, gone: Numbers) -> list[Effect]:
        """Note that nodes have gone. Backups are struck out when they are renewed."""
        self.away.update(gone)
        known = {*self.neighbours, *self.primaries}.intersection(gone)
        for node in known:
            self.neighbours.pop(node, None)
            self.primaries.discard(node)
        return self.changed(everyone=True) if known else []

    def changed(self, *, everyone: bool) -> list[Effect]:
        """Tell the neighbours and backups a while later, or only those neighbours that would lead."""
        self.all_told |= everyone
        if self.telling:
            return []
        self.telling = True
        return [Wake(self.rule.patience, TELL)]

    def tell(self) -> list[Effect]:
        """Tell the neighbours and backups.

        Who one is a backup of matters to the one that leads a repair, so that a few neighbours need to know. Should all
        of these go, too, each primary notices by itself in the end that a backup has gone.
        """
        message = (TELL, *self.own())
        here = sorted(self.neighbours.keys() - self.away)
        peers = sorted({*here, *self.backups - self.away}) if self.all_told else here[:HEIRS]
        self.telling = self.all_told = False
        return [Send(peer, message) for peer in peers]

    def receive(self, sender: int, message: Message) -> list[Effect]:
        """Take a message."""
        kind, *body = message
        if kind == RENEW:
            struck = self.strike(body[0])
            return struck + self.renew(body[1], sender)
        if kind == SEEK:
            return [Send(sender, (OFFER, *self._offer(sender, frozenset(body[0]))))]
        if kind == OFFER:
            self.offers[sender] = Offer(*body[:2])
            self.contacts.update(body[2])
            return self._heard(sender)
        if kind == TELL:
            self.told[sender] = Told(*body)
            if sender in self.neighbours:
                self.neighbours[sender] = frozenset(body[0])
            return []
        (self.primaries.add if kind == BACKUP else self.primaries.discard)(sender)
        return self.changed(everyone=False)

    def acknowledged(self, to: int, message: Message) -> list[Effect]:
        """A node knows that it is a backup, or none any more."""
        if to not in self.untold:
            return []
        self.untold.discard(to)
        return [] if self.untold else self._renewed()

    def gave_up(self, to: int, message: Message) -> list[Effect]:
        """Go on without a candidate or backup that does not answer."""
        if message[0] == SEEK:
            return self._heard(to)
        if message[0] in (BACKUP, RELEASE):
            self.refused |= message[0] == BACKUP
            self.offers.pop(to, None)
            return self.acknowledged(to, message)
        return []

    def renew(self, build: int, asker: int) -> list[Effect]:
        """Renew the backups, after other renewals that are under way. ``build`` seeds what is random in it."""
        self.queue.append((build, asker))
        return self._begin() if len(self.queue) == 1 else []

    def renewal_done(self) -> list[Effect]:
        """Go on with what this node asked itself for."""
        return []

    def _begin(self) -> list[Effect]:
        self.offers, self.seen, self.contacts = {}, {self.number}, set()
        near = {peer for peer, wanted in self.neighbours.items() if wanted & self.wanted}
        return self._seek(near | self.backups)

    def _seek(self, nodes: set[int]) -> list[Effect]:
        """Ask nodes that have not been asked. If there are none, choose."""
        self.open = nodes - self.seen - self.away
        self.seen |= self.open
        if not self.open:
            return self._choose()
        message = (SEEK, self.topics)
        return [Send(node, message) for node in sorted(self.open)]

    def _offer(self, sender: int, topics: frozenset[int]) -> tuple[Any, ...]:
        """Links and primaries, topics shared, and neighbours that share some."""
        weight = len(self.neighbours) + len(self.primaries - {sender})
        contacts = [peer for peer, wanted in self.neighbours.items() if peer != sender and wanted & topics]
        return weight, tuple(sorted(topics & self.wanted)), tuple(sorted(contacts))

    def _heard(self, node: int) -> list[Effect]:
        if node not in self.open:
            return []
        self.open.discard(node)
        if self.open:
            return []
        return self._choose() if self._enough() else self._seek(self.contacts)

    def _enough(self) -> bool:
        if self.rule.candidates is None:
            return False
        found = dict.fromkeys(self.topics, 0)
        for offer in self.offers.values():
            for topic in offer.shared:
                found[topic] += 1
        return min(found.values(), default=0) >= self.rule.candidates

    def _choose(self) -> list[Effect]:
        """Choose backups, and tell who becomes one and who is none any more."""
        old, self.refused = self.backups - self.away, False
        self.backups = chosen_backups(self.number, self.topics, self.offers, self.rule, self.queue[0][0])
        came, went = sorted(self.backups - old), sorted(old - self.backups)
        self.untold = {*came, *went}
        if not self.untold:
            return self._renewed()
        sent: list[Effect] = [Send(node, (BACKUP,), told=True) for node in came]
        return sent + [Send(node, (RELEASE,), told=True) for node in went]

    def _renewed(self) -> list[Effect]:
        if self.refused:  # a backup that was chosen does not answer: choose without it
            self.backups &= self.offers.keys()
            return self._choose()
        _, asker = self.queue.pop(0)
        self.renewed += 1
        out = self.changed(everyone=True)
        if asker == self.number:
            out += self.renewal_done()
        elif asker != NOBODY:
            out.append(Send(asker, (RENEWED,)))
        return out + (self._begin() if self.queue else [])
