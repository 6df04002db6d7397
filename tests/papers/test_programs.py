"""Node programs are free of the simulator: another transport runs them as well, in whatever order messages arrive."""

import ast
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import interests
from topicloom_papers.simulation import dc
from topicloom_papers.simulation.dc_node import DcNode, World
from topicloom_papers.simulation.network import Down, Send, Up, Wake
from topicloom_papers.simulation.planning import Planning, partitions_of

PROGRAMS = ["dc_node", "shadow_node", "backup_node", "wave_node"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_import_no_clock_no_chance_no_network_and_no_interest(name):
    tree = ast.parse((Path(dc.__file__).parent / f"{name}.py").read_text("utf-8"))
    imports = {
        node.module: {alias.name for alias in node.names} for node in tree.body if isinstance(node, ast.ImportFrom)
    }
    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))
    assert imports.pop("topicloom_papers.simulation.network") <= {"Send", "Wake", "Up", "Down"}
    ours = {f"topicloom_papers.simulation.{module}" for module in (*PROGRAMS, "planning", "shadow_planning")}
    assert set(imports) <= ours | {"abc", "collections.abc", "dataclasses", "typing"}


def thawed(value):
    """What JSON made of a message, as tuples again."""
    return tuple(map(thawed, value)) if isinstance(value, list) else value


class Mail:
    """A transport without time: whatever waits may happen next. Messages travel as text."""

    def __init__(self, programs, chance):
        self.programs, self.chance, self.links, self.waiting = programs, chance, set(), []
        for node, program in enumerate(programs):
            self._do(node, program.start())

    def run(self):
        while self.waiting:
            at = self.chance.randrange(len(self.waiting))
            self.waiting[at], self.waiting[-1] = self.waiting[-1], self.waiting[at]
            node, event, body = self.waiting.pop()
            self._do(node, getattr(self.programs[node], event)(*body))

    def _do(self, node, effects):
        for effect in effects:
            if isinstance(effect, Send):
                text = json.dumps(effect.message)
                self.waiting.append((effect.to, "receive", (node, thawed(json.loads(text)))))
                if effect.told:
                    self.waiting.append((node, "acknowledged", (effect.to, effect.message)))
            elif isinstance(effect, Wake):
                self.waiting.append((node, "wake", (effect.what,)))
            else:
                assert isinstance(effect, Up | Down)
                (self.links.add if isinstance(effect, Up) else self.links.discard)((node, effect.peer))


@settings(max_examples=60)
@given(interests(max_nodes=14, max_topics=8), st.integers(1, 6), st.integers(0, 3), st.integers(0, 9))
def test_another_transport_in_any_order_gives_the_links_of_the_centre(interest, partitions, seed, order):
    n = interest.n_nodes
    partitions = min(partitions, max(n, 1))
    members = partitions_of(n, partitions, seed)
    partition = {node: number for number, nodes in enumerate(members) for node in nodes}
    world = World(members, [partition[v] for v in range(n)], Planning(seed, n), 40.0, 10.0, 0)
    mail = Mail([DcNode(v, tuple(interest.topics_of(v).tolist()), world) for v in range(n)], random.Random(order))
    mail.run()
    central = tl.divide_and_conquer(interest, partitions=partitions, seed=seed)
    assert {tuple(sorted(link)) for link in mail.links} == set(map(tuple, central.links.tolist()))
