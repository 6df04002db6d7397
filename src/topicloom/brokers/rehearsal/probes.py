"""Steady traffic: every ten milliseconds a few messages, on topics of interest first, on all others in turn."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from topicloom.brokers.rehearsal.stage import Stage

TICK = 0.010
_COPIES_A_TICK = 24


class Probes:
    """Publishes in the background while the ``async with`` block runs.

    On every tick each topic of ``first`` is published once, as far as the machine can count the copies, then one of
    ``others``; the publishers of a topic take turns. ``wanted`` says who should get a message now.
    """

    def __init__(
        self, stage: Stage, first: Sequence[str], others: Sequence[str], wanted: Callable[[str], frozenset[str]]
    ) -> None:
        self._stage, self._wanted = stage, wanted
        self._first, self._others = first, cycle(others) if others else None
        self._place = 0
        self._publishers: dict[str, Iterator[str]] = {}
        self.ticks = 0

    async def __aenter__(self) -> "Probes":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._stage.drain(0)
        await self._stage.quiet()

    async def _run(self) -> None:
        due = time.monotonic()
        while True:
            self._tick()
            self.ticks += 1
            due = max(due + TICK, time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    def _tick(self) -> None:
        copies = 0
        for _ in range(len(self._first)):
            copies += self._publish(self._first[self._place % len(self._first)])
            self._place += 1
            if copies > _COPIES_A_TICK:
                break
        if self._others is not None:
            self._publish(next(self._others))

    def _publish(self, topic: str) -> int:
        wanted = self._wanted(topic)
        if topic not in self._publishers:
            self._publishers[topic] = cycle(sorted(self._stage.site.network.subscribers[topic]))
        for _ in self._stage.site.network.subscribers[topic]:
            publisher = next(self._publishers[topic])
            if publisher in wanted and publisher in self._stage.wires:
                self._stage.send(topic, publisher, wanted)
                return len(wanted)
        return 0
