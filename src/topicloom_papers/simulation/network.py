"""An event loop with a network that delays and loses messages and lets nodes crash. Everything follows from a seed.

Node programs see none of this. A program is an object with the methods of `Program`; each gets what happened and
returns what to do, a list of `Send`, `Wake`, `Up` and `Down`. No program sees a clock, a random number or another node.

A message that is sent is tried again until its acknowledgement arrives, at equal intervals, and a fixed number of
times; then the sender's program is told that the network gave up. A message is delivered once at most.
"""

import hashlib
import heapq
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from topicloom.errors import InvalidOptionError

HEADER = 12  # bytes of a message beside its numbers: kind, sender, number
NUMBER = 4


class Send(NamedTuple):
    """Send a message: a tuple of its kind and numbers, or tuples of numbers. ``told`` asks for its acknowledgement."""

    to: int
    message: tuple[Any, ...]
    told: bool = False


class Wake(NamedTuple):
    """Call the program's ``wake`` after a delay."""

    delay: float
    what: str


class Up(NamedTuple):
    """A link of this node to a peer stands."""

    peer: int


class Down(NamedTuple):
    """A link of this node to a peer is closed."""

    peer: int


Effects = Sequence[Send | Wake | Up | Down]


class Program(Protocol):
    """What a node runs."""

    def start(self) -> Effects:
        """Begin."""

    def receive(self, sender: int, message: tuple[Any, ...]) -> Effects:
        """Take a message."""

    def acknowledged(self, to: int, message: tuple[Any, ...]) -> Effects:
        """Learn that a message has arrived, if it was sent with ``told``."""

    def gave_up(self, to: int, message: tuple[Any, ...]) -> Effects:
        """Learn that all tries to deliver a message were in vain."""

    def wake(self, what: str) -> Effects:
        """Go on after a `Wake`."""


@dataclass(frozen=True)
class Faults:
    """How the network behaves. Times are in units of the mean delay of a message.

    Attributes
    ----------
    loss : float
        Probability that a try, or an acknowledgement, is lost; below 1.
    crashes : float
        Share of the nodes that stop for good, each at a random time before ``crash_until``.
    crash_until : float
    delays : (float, float)
        Bounds of the delay of a message, uniform between them.
    retry_after : float
        Time between tries.
    tries : int
    """

    loss: float = 0.0
    crashes: float = 0.0
    crash_until: float = 60.0
    delays: tuple[float, float] = (0.5, 1.5)
    retry_after: float = 4.0
    tries: int = 10

    def __post_init__(self) -> None:
        if not 0 <= self.loss < 1 or not 0 <= self.crashes <= 1:
            raise InvalidOptionError(
                f"loss is {self.loss!r} and crashes is {self.crashes!r}; shares from 0 to 1 are accepted, loss below 1"
            )
        if not 0 < self.delays[0] <= self.delays[1] or self.retry_after <= 0 or self.tries < 1:
            raise InvalidOptionError("delays, retry_after and tries have to be positive, delays in ascending order")


@dataclass
class MessageTraffic:
    """What went over the network: tries, bytes and acknowledgements, by kind of message."""

    messages: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    tries: int = 0
    acknowledgements: int = 0
    given_up: int = 0


class LinkChange(NamedTuple):
    """A link that went up or down, in the order of time."""

    time: float
    node: int
    peer: int
    up: bool


class Lost(NamedTuple):
    """A message that its sender gave up: no try arrived, or no acknowledgement of those that did."""

    kind: str
    sender: int
    to: int
    arrived: bool


def size_of(message: Any) -> int:
    """Count the bytes of the numbers of a message, however nested. Texts are kinds, and part of the header.

    >>> size_of(("interest", 0, (4, 5, 6)))
    16
    """
    if isinstance(message, tuple):
        return sum(map(size_of, message))
    return NUMBER if isinstance(message, int) else 0


class SimulatedNetwork:
    """Runs programs against each other until nothing is left to do, or until the horizon."""

    def __init__(self, programs: Sequence[Program], faults: Faults, *, seed: int, horizon: float) -> None:
        self.programs = programs
        self.faults = faults
        self.horizon = horizon
        self.now = 0.0
        self.traffic = MessageTraffic()
        self.changes: list[LinkChange] = []
        self.trace = hashlib.sha256()
        self.depth = [0] * len(programs)
        self.lost: list[Lost] = []
        self.rounds: Counter[str] = Counter()  # by kind of message: the longest chain that ended with one
        self._random = random.Random(f"topicloom network {seed}")
        self._queue: list[tuple[float, int, int, str, int, Any, int]] = []
        self._number = 0
        drawn = self._random.sample(range(len(programs)), round(faults.crashes * len(programs)))
        self.crashed_at = {node: self._random.uniform(0, faults.crash_until) for node in sorted(drawn)}

    def alive(self, node: int, time: float) -> bool:
        """Whether a node runs at a time."""
        return time < self.crashed_at.get(node, float("inf"))

    def run(self) -> None:
        """Start all programs, and let events happen in the order of time."""
        for node, program in enumerate(self.programs):
            if self.alive(node, 0.0):
                self._do(node, program.start())
        while self._queue and self._queue[0][0] <= self.horizon:
            self.now, _, node, event, peer, body, depth = heapq.heappop(self._queue)
            if not self.alive(node, self.now):
                continue
            self.trace.update(b"%.6f %d %d %s;" % (self.now, node, peer, event.encode()))
            program = self.programs[node]
            if event == "receive":
                self.depth[node] = max(self.depth[node], depth)
                self.rounds[body[0]] = max(self.rounds[body[0]], depth)
                self._do(node, program.receive(peer, body))
            elif event == "acknowledged":
                self._do(node, program.acknowledged(peer, body))
            elif event == "gave up":
                self._do(node, program.gave_up(peer, body))
            else:
                self._do(node, program.wake(body))

    def _do(self, node: int, effects: Effects) -> None:
        sizes: dict[int, int] = {}
        for effect in effects:
            if isinstance(effect, Send):
                size = sizes.get(id(effect.message)) or sizes.setdefault(id(effect.message), size_of(effect.message))
                self._send(node, effect, HEADER + size)
            elif isinstance(effect, Wake):
                self._push(self.now + effect.delay, node, "wake", node, effect.what)
            else:
                self.changes.append(LinkChange(self.now, node, effect.peer, isinstance(effect, Up)))

    def _send(self, sender: int, send: Send, size: int) -> None:
        """Decide the fate of a message: which tries are lost, when it arrives, when the sender knows."""
        faults, draw = self.faults, self._random.random
        low, high = faults.delays
        kind = send.message[0]
        self.traffic.messages[kind] += 1
        arrival = None
        for attempt in range(faults.tries):
            sent = self.now + attempt * faults.retry_after
            if not self.alive(sender, sent):
                return
            self.traffic.tries += 1
            self.traffic.bytes[kind] += size
            there = sent + low + (high - low) * draw()
            if (faults.loss and draw() < faults.loss) or not self.alive(send.to, there):
                continue
            if arrival is None:
                arrival = there
                self._push(there, send.to, "receive", sender, send.message, self.depth[sender] + 1)
            self.traffic.acknowledgements += 1
            if not (faults.loss and draw() < faults.loss):
                if send.told:
                    back = there + low + (high - low) * draw()
                    self._push(back, sender, "acknowledged", send.to, send.message)
                return
        self.traffic.given_up += 1
        self.lost.append(Lost(kind, sender, send.to, arrival is not None))
        end = self.now + faults.tries * faults.retry_after
        self._push(end, sender, "gave up", send.to, send.message)

    def _push(self, time: float, node: int, event: str, peer: int, body: Any, depth: int = 0) -> None:
        self._number += 1
        heapq.heappush(self._queue, (time, self._number, node, event, peer, body, depth))
