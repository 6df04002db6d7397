"""The program of a node when others have gone: shadows repair the overlay from what they know (shadows §V).

A node knows its topics, its neighbours, backups and primaries, and what each neighbour and primary has told it: its
topics, neighbours, backups and primaries. It notices when one of them has gone. The lowest of the neighbours that a
gone node had leads:

1. it asks the other shadows (neighbours and backups of who has gone) whom they are linked to in the topics at stake;
2. where a topic is in pieces as far as these tell, it has a wave look further (`wave_node`); then it adds links between
   shadows by Low-ODA's rule until the pieces that it can tell apart are connected in each topic;
3. it tells the lower end of each new link to dial. When the links stand it tells the other neighbours that it is done,
   and asks those who have lost a backup, one after the other, to renew theirs (`backup_node`).

A neighbour that does not hear so in time leads itself. Two shadows that meet only beyond the reach of the wave count as
apart, so that the local repair may add links that one with a view of everything would not. A backup takes part in a
topic only where it is known to be connected with a neighbour of who has gone: what has to be connected again are those
neighbours, and a backup that hangs somewhere else does not help.

Several nodes may go at once, and be each other's neighbours. A shadow that reports adds what else it has lost, and the
one that leads takes that on. A neighbour of who has gone that does not answer has gone too: the one that leads then
searches the overlay for those whom it had told of itself, or who have lost a neighbour of it. Of two that lead for the
same node, the higher number gives way.
"""

from collections.abc import Collection, Sequence
from typing import Any

from topicloom_papers.simulation.backup_node import LATE, NOBODY, RENEW, RENEWED, TELL, UPKEEP, Effect, Message
from topicloom_papers.simulation.network import Send, Up, Wake
from topicloom_papers.simulation.shadow_planning import Numbers, Pieces, RepairRule, Told, chosen_links, pieces_of
from topicloom_papers.simulation.wave_node import ECHO, PROBE, Labels, Meeting, WaveNode

ASK, REPORT, SEARCH, KNOWN, DIAL, DIALLED, LINK, DONE = (
    "ask", "report", "search", "known", "dial", "dialled", "link", "done",
)  # fmt: skip
LONGER = 4  # times patience: how long one waits for a leader that has asked


class ShadowNode(WaveNode):
    """A node, and what it does when others have gone."""

    def __init__(self, number: int, topics: Numbers, rule: RepairRule) -> None:
        super().__init__(number, topics, rule)
        self._forget()

    def _forget(self) -> None:
        """Begin with no loss."""
        self.requests, self.labels = {}, {}
        self.lost: dict[int, Told] = {}
        self.kept: dict[int, Told] = {}  # what primaries that have gone had told
        self.found: dict[int, Told] = {}
        self.reports: dict[int, tuple[Any, ...]] = {}
        self.waiting: set[int] = set()
        self.missing: set[int] = set()
        self.searched: set[int] = set()
        self.passed: set[tuple[Any, ...]] = set()
        self.done: set[int] = set()
        self.dialling: dict[int, set[int]] = {}
        self.undialled: set[int] = set()
        self.unrenewed: list[int] = []
        self.led = self.leading = self.looking = self.chosen = self.again = False

    def notice(self, gone: Collection[int], build: int) -> None:
        """Miss nodes that have gone, before the network starts. ``build`` sets of backups were built before."""
        self._forget()
        self.build = build
        for node in sorted(self.neighbours.keys() & gone):
            self.lost[node] = self.told.get(node) or Told(tuple(sorted(self.neighbours[node])), (self.number,), (), ())
        self.kept = {node: self.told[node] for node in self.primaries & set(gone) if node in self.told}
        self.away.update(({*self.backups, *self.primaries} | self.neighbours.keys()) & set(gone))

    def start(self) -> list[Effect]:
        """Lead, or wait for the one that leads, where a neighbour has gone."""
        out = self.strike(tuple(self.away))
        if self.backups & self.away:
            out.append(Wake(LATE * self.rule.patience, RENEW))
        if not self.lost:
            return out
        turn = min(sorted({*told.neighbours, self.number}).index(self.number) for told in self.lost.values())
        return out + (self._lead() if turn == 0 else [Wake(turn * self.rule.patience, "lead")])

    def receive(self, sender: int, message: Message) -> list[Effect]:
        """Take a message."""
        kind, *body = message
        if kind == RENEWED:
            return self._renew_next()
        if kind in UPKEEP:
            return super().receive(sender, message)
        if kind == ASK:
            return self._answer(sender, *body)
        if kind == REPORT:
            return self._hear_report(sender, *body)
        if kind == SEARCH:
            return self._pass_on(sender, *body)
        if kind == PROBE:
            return self.probed(sender, *body)
        if kind == ECHO:
            return self.echoed(sender, *body)
        if kind == KNOWN:
            self.found.update((node, Told(*told)) for node, *told in body[0])
            self.again |= sender in self.missing  # it lives
            self.missing.discard(sender)
        elif kind == DIAL:
            return self._dial(sender, body[0])
        elif kind == DIALLED:
            return self._hear_dialled(sender)
        elif kind == LINK:
            self.neighbours[sender] = frozenset(body[0])
            return self.changed(everyone=True)
        elif kind == DONE:
            self.done.update(body[0])
        return []

    def acknowledged(self, to: int, message: Message) -> list[Effect]:
        """A link stands, or a backup knows that it is one."""
        if message[0] != LINK:
            return super().acknowledged(to, message)
        return [Up(to), *self.changed(everyone=True), *self._dialled(to)]

    def gave_up(self, to: int, message: Message) -> list[Effect]:
        """Go on without a node that does not answer."""
        kind = message[0]
        if kind == ASK:
            if message[1] != len(self.lost) or to in self.reports:  # of an earlier round, or only acknowledgements lost
                return []
            self.missing.add(to)
            return self._proceed()
        if kind == LINK:
            self.neighbours.pop(to, None)
            return self._dialled(to)
        if kind == DIAL:
            return self._hear_dialled(to)
        if kind == PROBE:
            return self.echoed(to, message[3], ())
        return self._renew_next() if kind == RENEW else super().gave_up(to, message)

    def wake(self, what: str) -> list[Effect]:
        """Tell the neighbours, go on after a search, or do what nobody else has done."""
        if what == TELL:
            return self.tell()
        if what == RENEW:
            return self.renew(self.build + 1 + self.number, NOBODY) if self.backups & self.away else []
        if what == SEARCH:
            return self._after_search()
        if what.startswith(PROBE):
            return self._repair(set()) if self.looking and what == f"{PROBE} {self.wave}" else []
        if self.leading or self.lost.keys() <= self.done:
            return []
        if self.led:
            self.led = False
            return [Wake(LONGER * self.rule.patience, "lead")]
        return self._lead()

    # Ask shadows, and search for those who knew others that have gone.

    def _lead(self) -> list[Effect]:
        self.leading = True
        return self._ask()

    def _ask(self) -> list[Effect]:
        """Ask all shadows of all who are known to have gone. The number of those tells one round from another."""
        self.looking = False
        gone, topics = tuple(sorted(self.lost)), tuple(sorted({t for told in self.lost.values() for t in told.topics}))
        shadows = {node for told in self.lost.values() for node in (*told.neighbours, *told.backups)}
        self.missing |= shadows & self.away - self.lost.keys()
        self.waiting = shadows - self.lost.keys() - self.missing - {self.number}
        self.again = False
        self.reports = {self.number: self._report(topics)}
        ask = (ASK, len(gone), gone, topics)
        return [Send(shadow, ask) for shadow in sorted(self.waiting)] or self._proceed()

    def _answer(self, sender: int, number: int, gone: Numbers, topics: Numbers) -> list[Effect]:
        """Report, and give way to a lower number that leads for the same nodes."""
        out = self.strike(gone)
        others = tuple((node, *told) for node, told in sorted(self.lost.items()) if node not in gone)
        out.append(Send(sender, (REPORT, number, *self._report(topics), others)))
        if self.lost.keys() & set(gone):
            self.led = True
            if self.leading and not self.chosen and sender < self.number:
                self.leading = self.looking = False
                out.append(Wake(LONGER * self.rule.patience, "lead"))
        return out

    def _report(self, topics: Sequence[int]) -> tuple[Any, ...]:
        """Degree, topics at stake, and the neighbours with whom one shares some of these, with the shared ones."""
        stake = self.wanted.intersection(topics)
        links = tuple(
            (peer, tuple(sorted(stake & wanted))) for peer, wanted in sorted(self.neighbours.items()) if stake & wanted
        )
        return len(self.neighbours), tuple(sorted(stake)), links

    def _hear_report(self, sender: int, number: int, *body: Any) -> list[Effect]:
        if number != len(self.lost):
            return []
        *report, others = body
        self.reports[sender] = tuple(report)
        self.found.update((node, Told(*told)) for node, *told in others)
        return self._proceed()

    def _take_on(self) -> bool:
        """Take on nodes of which others have told that they have gone. Returns whether there are any."""
        new = {node: told for node, told in self.found.items() if node not in self.lost}
        self.lost.update(new)
        self.away.update(new)
        return bool(new)

    def _proceed(self) -> list[Effect]:
        """Go on when all shadows have reported or do not answer."""
        if not self.leading or self.chosen or not self.waiting <= self.reports.keys() | self.missing:
            return []
        if self._take_on():
            return self._ask()
        if self.looking:
            return []
        between = {node for told in self.lost.values() for node in told.neighbours}
        unknown = tuple(sorted(self.missing & between - self.searched - self.lost.keys()))
        if not unknown:
            return self._look_further()
        self.searched.update(unknown)
        near = {*self.neighbours, *self.backups, *self.primaries, *self.reports} - self.away - {self.number}
        message = (SEARCH, self.number, unknown)
        self.passed.add(message)
        return [*(Send(node, message) for node in sorted(near)), Wake(self.rule.patience, SEARCH)]

    def _after_search(self) -> list[Effect]:
        if not self.leading or self.chosen:
            return []
        return self._ask() if self._take_on() or self.again else self._proceed()

    def _pass_on(self, sender: int, leader: int, unknown: Numbers) -> list[Effect]:
        """Pass a search on, and tell what those that have gone had told, if that is about whom is searched for."""
        message = (SEARCH, leader, unknown)
        if message in self.passed:
            return []
        self.passed.add(message)
        known = tuple(
            (node, *told)
            for node, told in sorted({**self.kept, **self.lost}.items())
            if node in unknown or (node in self.lost and not set(unknown).isdisjoint(told.neighbours))
        )
        out: list[Effect] = [Send(peer, message) for peer in sorted(self.neighbours) if peer != sender]
        return out + ([Send(leader, (KNOWN, known))] if known or self.number in unknown else [])

    # Choose links, have them dialled, and have backups renewed.

    def _look_further(self) -> list[Effect]:
        """Have a wave run from the pieces of topics that are in several as far as the reports tell."""
        pieces = {topic: found for topic, found in self._pieces().items() if len(set(found.values())) > 1}
        if not pieces or not self.rule.reach:
            return self._repair(set())
        self.looking = True
        sent: dict[int, Labels] = {}
        for topic, found in sorted(pieces.items()):
            for node, piece in found.items():
                if node in self.reports:
                    sent[node] = (*sent.get(node, ()), (topic, piece))
        out = self.begin_wave(sent)
        return [*out, Wake(LONGER * self.rule.patience / 2, f"{PROBE} {self.wave}")]

    def _pieces(self) -> Pieces:
        return pieces_of(self.reports, {node for told in self.lost.values() for node in told.neighbours})

    def wave_over(self, met: set[Meeting]) -> list[Effect]:
        """Choose links between pieces that the wave has found apart."""
        return self._repair(met) if self.looking else []

    def _repair(self, met: set[Meeting]) -> list[Effect]:
        self.looking, self.chosen = False, True
        neighbours = {node for told in self.lost.values() for node in told.neighbours}
        stake = {node: report[1] for node, report in self.reports.items()}
        dials: dict[int, list[tuple[int, Numbers]]] = {}
        for u, v in chosen_links(self.reports, neighbours, self.rule, met):
            dials.setdefault(u, []).append((v, stake[v]))
        own = dials.pop(self.number, [])
        self.undialled = set(dials)
        out: list[Effect] = [Send(node, (DIAL, tuple(links))) for node, links in sorted(dials.items())]
        if own:
            self.undialled.add(self.number)
            return out + self._dial(self.number, own)
        return out + self._finish()

    def _dial(self, asker: int, links: Sequence[tuple[int, Numbers]]) -> list[Effect]:
        self.dialling[asker] = {peer for peer, _ in links}
        for peer, topics in links:
            self.neighbours.setdefault(peer, frozenset(topics))
        return [Send(peer, (LINK, self.topics), told=True) for peer, _ in links]

    def _dialled(self, peer: int) -> list[Effect]:
        """Tell the askers whose links all stand, or cannot."""
        out: list[Effect] = []
        for asker, peers in sorted(self.dialling.items()):
            peers.discard(peer)
            if not peers:
                del self.dialling[asker]
                out += self._hear_dialled(asker) if asker == self.number else [Send(asker, (DIALLED,))]
        return out

    def _hear_dialled(self, node: int) -> list[Effect]:
        self.undialled.discard(node)
        return self._finish()

    def _finish(self) -> list[Effect]:
        """When the links stand, tell the neighbours of who has gone, and have backups renewed."""
        if self.undialled or not self.chosen or self.lost.keys() <= self.done:
            return []
        gone = tuple(sorted(self.lost))
        self.done.update(gone)
        others = {node for told in self.lost.values() for node in told.neighbours}
        here = others - self.away - self.missing - self.lost.keys() - {self.number}
        primaries = {node for told in self.lost.values() for node in told.primaries}
        self.unrenewed = sorted(primaries - self.missing - self.lost.keys(), reverse=True)
        return [*(Send(other, (DONE, gone)) for other in sorted(here)), *self._renew_next()]

    def _renew_next(self) -> list[Effect]:
        if not self.unrenewed:
            return []
        self.build += 1
        node = self.unrenewed.pop()
        if node == self.number:
            return self.renew(self.build, node)
        return [Send(node, (RENEW, tuple(sorted(self.lost)), self.build))]

    def renewal_done(self) -> list[Effect]:
        """Go on with the next node that has lost a backup."""
        return self._renew_next()
