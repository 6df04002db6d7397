"""The churn of the shadows paper, §VI: rounds in which a node joins or leaves, each with probability ½."""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from topicloom.churn import Maintainer
from topicloom.model import Change, Interest
from topicloom.study.cells import Cell
from topicloom.study.inputs import drawn


class Round(NamedTuple):
    """A node, by its number among all that ever take part, that joins or leaves."""

    joins: bool
    node: int


class Churn(NamedTuple):
    """Everyone who ever takes part, how many are there at the start (the first ones), and the rounds."""

    everyone: Interest
    start: int
    rounds: Sequence[Round]

    @classmethod
    def of(cls, cell: Cell) -> "Churn":
        """The churn that a cell's workload, rounds and seed stand for; newcomers are drawn as all others are."""
        nodes, count = cell.workload["nodes"], cell.options["rounds"]
        everyone = drawn({**cell.workload, "nodes": nodes + count}, cell.seed)
        return cls(everyone, nodes, list(_rounds(nodes, count, cell.seed)))

    def interest(self) -> Interest:
        """The interest before the first round."""
        return self.everyone.restrict(np.arange(self.start))

    def apply(self, maintainer: Maintainer, turn: Round) -> Change:
        """Let a round happen."""
        label = self.everyone.node_label(turn.node)
        if not turn.joins:
            return maintainer.leave(label)
        return maintainer.join(label, [self.everyone.topic_label(t) for t in self.everyone.topics_of(turn.node)])

    def present(self) -> Iterator[tuple[Round, list[int]]]:
        """Each round with the nodes that are there after it, in no order."""
        present = list(range(self.start))
        for turn in self.rounds:
            if turn.joins:
                present.append(turn.node)
            else:
                present.remove(turn.node)
            yield turn, present


def _rounds(nodes: int, count: int, seed: int) -> Iterator[Round]:
    draw = random.Random(seed)
    present, newcomer = list(range(nodes)), nodes
    for _ in range(count):
        if draw.random() < 0.5 or not present:
            present.append(newcomer)
            yield Round(True, newcomer)
            newcomer += 1
        else:
            at = draw.randrange(len(present))
            present[at], present[-1] = present[-1], present[at]
            yield Round(False, present.pop())
