"""The interest of a cell (generated, one of the papers' fixed cases, or a real data set), and rounds of churn on it."""

import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topicloom.churn import Maintainer
from topicloom.datasets import generate
from topicloom.errors import InputNotFoundError
from topicloom.model import Change, Interest
from topicloom_papers.cells.cells import Cell, canonical

FROM_LEAST = "power law from the least size"
DATASETS_VARIABLE = "TOPICLOOM_DATASETS"
DATASETS = {
    "ros2_autoware": "ros2_autoware.csv",
    "mastodon_instances": "mastodon_instances.csv.gz",
    "mastodon_accounts": "mastodon_accounts.csv.gz",
    "github_follow": "github_follow.csv.gz",
    "msweb_areas": "msweb_areas.csv.gz",
    "twitter_follow": "twitter_follow.csv.gz",
}


def interest_of(cell: Cell) -> Interest:
    """Interest that a cell is about. The last ones are kept, since cells of one interest follow each other."""
    return drawn(cell.workload, cell.seed)


def drawn(workload: Mapping[str, Any], seed: int) -> Interest:
    """Interest that a workload and a seed stand for."""
    return _interest(canonical(workload), seed)


@lru_cache(maxsize=2)
def _interest(workload: str, seed: int) -> Interest:
    options = json.loads(workload)
    if "dataset" in options:
        return dataset(options["dataset"])
    case = options.pop("case", None)
    if case == "VII":
        return case_vii(**options)
    if case is not None:
        return (sizes_from_least if case == FROM_LEAST else steeper_exponential)(**options, seed=seed)
    return generate(**options, seed=seed)


def case_vii(nodes: int) -> Interest:
    """Case VII of the Low-ODA paper (§6.4): v1 wants x1 … xn and z, v2 x1 … xn, w wants z, n - 3 nodes x1 and y."""
    shared = [f"x{j:03d}" for j in range(1, nodes + 1)]
    wants: Mapping[str, list[str]] = {
        "v1": [*shared, "z"],
        "v2": shared,
        "w": ["z"],
        **{f"u{i:03d}": ["x001", "y"] for i in range(1, nodes - 2)},
    }
    pairs = [(node, topic) for node, topics in wants.items() for topic in topics]
    return Interest.from_pairs([node for node, _ in pairs], [topic for _, topic in pairs])


def steeper_exponential(nodes: int, topics: int, subscriptions: int, rate: float, seed: int) -> Interest:
    """Draw by p(t) ∝ exp(-rate t / topics), a popularity of another steepness, with equal sizes for all nodes.

    `topicloom.generate` has rate 7.98, 55 % of the mass on a tenth of the topics; 18 puts 83 % there. Drawing until a
    node has enough distinct topics is the same as taking those with the largest log p(t) + Gumbel noise.
    """
    noise = np.random.default_rng(seed).gumbel(size=(nodes, topics))
    chosen = np.argpartition(rate * np.arange(topics) / topics - noise, subscriptions - 1, axis=1)[:, :subscriptions]
    return Interest.from_csr(np.arange(0, nodes * subscriptions + 1, subscriptions), chosen.ravel(), topics)


def sizes_from_least(nodes: int, topics: int, least: int, most: int, exponent: float, seed: int) -> Interest:
    """Sizes between two bounds whose power law starts at the least one: least - 1 + x with probability ~ x^-exponent.

    `topicloom.generate` has the power law in the size itself, which is flatter: with exponent 2 from 10 to 90, 19 %
    of the nodes want fewer than 12 topics there, 77 % here. Popularity is uniform. More nodes with the same seed are
    the same nodes and others.
    """
    numbers = np.random.default_rng(seed).random((nodes, 1 + topics))
    law = np.arange(1.0, most - least + 2) ** -exponent
    sizes = least + np.searchsorted(np.cumsum(law / law.sum())[:-1], numbers[:, 0], side="right")
    order = np.argsort(numbers[:, 1:], axis=1)
    chosen = np.arange(topics) < sizes[:, None]
    return Interest.from_csr(np.concatenate(([0], np.cumsum(sizes))), order[chosen], topics)


def datasets_folder() -> Path | None:
    """Folder of the real data sets, if the environment names one that is there."""
    named = os.environ.get(DATASETS_VARIABLE)
    folder = Path(named) if named else None
    return folder if folder is not None and folder.is_dir() else None


def available(cell: Cell) -> bool:
    """Whether the interest of a cell can be had here: data sets may be missing."""
    name, folder = cell.workload.get("dataset"), datasets_folder()
    return name is None or (folder is not None and (folder / DATASETS[name]).exists())


def dataset(name: str) -> Interest:
    """A real interest, from the folder that ``TOPICLOOM_DATASETS`` names."""
    import pandas

    folder = datasets_folder()
    path = None if folder is None else folder / DATASETS[name]
    if path is None or not path.exists():
        raise InputNotFoundError(f"{DATASETS[name]} is not there; {DATASETS_VARIABLE} must name the data sets' folder")
    table: Any = pandas.read_csv(path, dtype=str, keep_default_na=False)
    return Interest.from_pairs(table["node"], table["topic"])


class ChurnRound(NamedTuple):
    """A node, by its number among all that ever take part, that joins or leaves."""

    joins: bool
    node: int


class Churn(NamedTuple):
    """Everyone who ever takes part, how many are there at the start (the first ones), and the rounds."""

    everyone: Interest
    start: int
    rounds: Sequence[ChurnRound]

    @classmethod
    def of(cls, cell: Cell) -> "Churn":
        """The churn that a cell's workload, rounds and seed stand for. Newcomers are drawn as all others are."""
        nodes, count = cell.workload["nodes"], cell.options["rounds"]
        everyone = drawn({**cell.workload, "nodes": nodes + count}, cell.seed)
        return cls(everyone, nodes, list(_rounds(nodes, count, cell.seed)))

    def interest(self) -> Interest:
        """The interest before the first round."""
        return self.everyone.restrict(np.arange(self.start))

    def apply(self, maintainer: Maintainer, turn: ChurnRound) -> Change:
        """Let a round happen."""
        label = self.everyone.node_label(turn.node)
        if not turn.joins:
            return maintainer.leave(label)
        return maintainer.join(label, [self.everyone.topic_label(t) for t in self.everyone.topics_of(turn.node)])

    def present(self) -> Iterator[tuple[ChurnRound, list[int]]]:
        """Each round with the nodes that are there after it, in no order."""
        present = list(range(self.start))
        for turn in self.rounds:
            if turn.joins:
                present.append(turn.node)
            else:
                present.remove(turn.node)
            yield turn, present


def _rounds(nodes: int, count: int, seed: int) -> Iterator[ChurnRound]:
    draw = random.Random(seed)
    present, newcomer = list(range(nodes)), nodes
    for _ in range(count):
        if draw.random() < 0.5 or not present:
            present.append(newcomer)
            yield ChurnRound(True, newcomer)
            newcomer += 1
        else:
            at = draw.randrange(len(present))
            present[at], present[-1] = present[-1], present[at]
            yield ChurnRound(False, present.pop())
