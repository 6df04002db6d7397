"""Leaves repaired by shadows alone."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.churn.actions import Actions
from topicloom.churn.options import Options
from topicloom.churn.reconnect import Repair
from topicloom.churn.upkeep import MaintainerCore
from topicloom.errors import InvalidOptionError
from topicloom_papers.simulation.leave_reasons import LeaveRecord
from topicloom_papers.simulation.network import Lost, Send
from topicloom_papers.simulation.shadow_node import ShadowNode
from topicloom_papers.simulation.shadow_planning import RepairRule, Told, chosen_links


@st.composite
def leavings(draw):
    n = draw(st.integers(2, 12))
    wants = [draw(st.sets(st.sampled_from("pqrs"), min_size=1)) for _ in range(n)]
    pairs = [(f"n{v}", topic) for v in range(n) for topic in sorted(wants[v])]
    interest = tl.Interest.from_pairs(*map(list, zip(*pairs, strict=True)))
    order = draw(st.permutations(interest.node_labels.tolist()))
    return interest, order[: draw(st.integers(1, n))]


@settings(max_examples=40)
@given(leavings(), st.sampled_from([0.0, 0.2]), st.integers(0, 3))
def test_every_leave_is_repaired_by_shadows_alone(leaving, loss, seed):
    interest, leaves = leaving
    run = tl.simulate_leaves(interest, tl.low_oda(interest), leaves, faults=tl.Faults(loss=loss, tries=30), seed=seed)
    assert run.verdict.ok and all(leave.ok for leave in run.leaves)
    assert [leave.nodes for leave in run.leaves] == [(node,) for node in leaves]
    assert sorted(run.overlay.interest.node_labels.tolist()) == sorted(set(interest.node_labels.tolist()) - set(leaves))


def test_a_wave_saves_links_and_costs_messages():
    interest = tl.generate(nodes=300, topics=40, subscriptions=6, seed=1)
    overlay = tl.low_oda(interest)
    leaves = [interest.node_label(v) for v in range(0, 300, 15)]
    near, far = (tl.simulate_leaves(interest, overlay, leaves, reach=reach) for reach in (0, 8))
    assert near.verdict.ok and far.verdict.ok
    assert all(leave.messages <= 5 * leave.shadows + 3 * leave.links for leave in near.leaves)
    assert sum(leave.messages for leave in near.leaves) < sum(leave.messages for leave in far.leaves)
    centre = tl.Maintainer(interest, overlay)
    added = sum(len(centre.leave(name).added) for name in leaves)
    assert sum(leave.links for leave in far.leaves) <= 1.1 * added < sum(leave.links for leave in near.leaves)


def components(interest, links, topic):
    """Component of each node that wants a topic, by following links."""
    wanting = set(interest.subscribers(topic).tolist())
    component = {}
    for first in sorted(wanting):
        front = [] if first in component else [first]
        for node in front:
            component[node] = first
            front += {*(v for u, v in links if u == node), *(u for u, v in links if v == node)} & wanting - set(front)
    return component


@settings(max_examples=60)
@given(leavings(), st.sampled_from([0.0, 0.2]), st.integers(0, 3))
def test_where_a_wave_goes_far_enough_each_link_of_a_repair_joins_what_was_apart(leaving, loss, seed):
    """In the order of their choice, by brute force: each joins two pieces of a topic, as the links before left them."""
    interest, leaves = leaving
    faults = tl.Faults(loss=loss, tries=30)
    run = tl.simulate_leaves(interest, tl.low_oda(interest), leaves[:1], reach=12, faults=faults, seed=seed)
    left = run.overlay.interest
    label_of = {left.node_label(v): v for v in range(left.n_nodes)}
    old = tl.low_oda(interest)
    names = [[interest.node_label(v) for v in link] for link in old.links.tolist()]
    stand = {(label_of[u], label_of[v]) for u, v in names if leaves[0] not in (u, v)}
    apart = [len(set(components(left, stand, topic).values())) - 1 for topic in range(left.n_topics)]
    new = set(map(tuple, run.overlay.links.tolist())) - stand
    for u, v in new:
        pieces = [components(left, stand, topic) for topic in range(left.n_topics)]
        assert any(u in found and v in found and found[u] != found[v] for found in pieces)
    assert run.verdict.ok and len(new) <= sum(max(count, 0) for count in apart)


class LocalRepair(Actions):
    """Step III of a maintainer, after repairs whose links are given."""

    def add(self, links):
        self.links = links

    def _repair(self, neighbours, backups, topics):
        slots = np.array([link for link in sorted(self.links) if link not in self._state.links], np.int32)
        self._state.add_links(*slots.reshape(-1, 2).T)
        return Repair(0, 0)


@settings(max_examples=30)
@given(leavings(), st.integers(1, 3), st.integers(0, 3))
def test_without_losses_backups_are_those_of_a_maintainer_with_the_same_links(leaving, coverage, seed):
    interest, leaves = leaving
    overlay = tl.low_oda(interest)
    options = Options(coverage=coverage, seed=seed)
    upkeep = MaintainerCore.begin(interest, overlay, options)
    state = upkeep.state
    actions = LocalRepair(state, options, None, upkeep.fence)
    actions.builds = interest.n_nodes
    names = interest.node_labels.tolist()
    for count, name in enumerate(leaves, 1):
        run = tl.simulate_leaves(interest, overlay, leaves[:count], coverage=coverage, candidates=None, seed=seed)
        kept = [names.index(label) for label in run.overlay.interest.node_labels.tolist()]
        actions.add({(kept[u], kept[v]) for u, v in run.overlay.links.tolist()})
        _, update = actions.leave([state.nodes.number[name]])
        update()
        assert run.backups == {names[v]: upkeep.backups_of(names[v]) for v in kept}
        assert run.leaves[-1].uncovered == 0


def covered(interest, run, coverage=3):
    """Whether backups cover each topic often enough, counted from the names alone."""
    left = run.overlay.interest
    wants = {left.node_label(v): set(left.topics_of(v).tolist()) for v in range(left.n_nodes)}
    for node, topics in wants.items():
        assert node not in run.backups[node] and set(run.backups[node]) <= wants.keys()
        for topic in topics:
            others = sum(topic in wanted for wanted in wants.values()) - 1
            if sum(topic in wants[backup] for backup in run.backups[node]) < min(coverage, others):
                return False
    return True


@settings(max_examples=40)
@given(leavings(), st.sampled_from([0.0, 0.2]), st.integers(0, 3))
def test_backups_cover_every_topic_again_after_every_leave(leaving, loss, seed):
    interest, leaves = leaving
    faults = tl.Faults(loss=loss, tries=30)
    run = tl.simulate_leaves(interest, tl.low_oda(interest), leaves, candidates=3, faults=faults, seed=seed)
    assert all(leave.uncovered == 0 for leave in run.leaves) and covered(interest, run)


@settings(max_examples=40)
@given(leavings(), st.integers(1, 3), st.sampled_from([0.0, 0.2]), st.integers(0, 3))
def test_nodes_that_fail_at_once_are_repaired_or_it_says_why_not(leaving, groups, loss, seed):
    interest, leaves = leaving
    racks = [leaves[start::groups] for start in range(groups) if leaves[start::groups]]
    overlay = tl.low_oda(interest)
    run = tl.simulate_leaves(interest, overlay, racks, faults=tl.Faults(loss=loss, tries=30), seed=seed)
    assert run.verdict.ok == (not run.reasons) == run.leaves[-1].ok
    assert set(run.reasons) == {broken.topic for broken in run.verdict.broken}
    assert [set(leave.nodes) for leave in run.leaves] == [set(rack) for rack in racks]
    for why in run.reasons.values():
        assert why.startswith("no node that stays was a neighbour or backup of") or "different nodes knew" in why


def path(names):
    interest = tl.Interest.from_pairs(list(names), ["news"] * len(names))
    return interest, tl.Overlay.from_links(interest, list(itertools.pairwise(names)))


@pytest.mark.parametrize("rack", ["c", "cd", "ce", "cde", "bce"])
def test_a_rack_of_neighbours_that_stays_known_to_others_is_repaired(rack):
    """c, d and e stand in a row: d is known to c and e alone, which were linked to b and f."""
    interest, overlay = path("abcdefg")
    run = tl.simulate_leaves(interest, overlay, [tuple(rack)])
    assert run.verdict.ok and run.reasons == {} and run.leaves[0].uncovered == 0


def test_a_rack_that_only_knew_itself_is_reported():
    """The ends of a path stay. They know of each other only if one is a backup of the other's lost neighbour."""
    interest, overlay = path("abcdefgh")
    run = tl.simulate_leaves(interest, overlay, [tuple("bcdefg")], coverage=1)
    assert list(run.reasons) == ["news"]
    assert "no node that stays was a neighbour or backup of" in run.reasons["news"]
    assert not run.verdict.ok and not run.leaves[0].ok
    assert tl.simulate_leaves(interest, overlay, [tuple("bcdefg")], coverage=3).verdict.ok


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_backups_know_a_rack_whose_inner_nodes_had_no_neighbour_that_stays(loss):
    """A node, its neighbours and theirs fail: that it stood between them only its backups can tell."""
    interest = tl.generate(nodes=200, topics=12, subscriptions=4, seed=0)
    rack = ["n000", "n110", "n086", "n134", "n164", "n131", "n106", "n170", "n136", "n160"]
    run = tl.simulate_leaves(interest, tl.low_oda(interest), [rack], faults=tl.Faults(loss=loss))
    assert run.verdict.ok, run.reasons


def test_a_rack_of_a_larger_overlay_is_repaired_with_its_backups():
    interest = tl.generate(nodes=200, topics=30, subscriptions=5, popularity="zipf", alpha=0.8, seed=3)
    rack = [interest.node_label(v) for v in range(40, 50)]
    run = tl.simulate_leaves(interest, tl.low_oda(interest), [rack], faults=tl.Faults(loss=0.1), seed=1)
    assert run.verdict.ok, run.reasons
    assert run.leaves[0].uncovered == 0 and run.leaves[0].renewed > 10 and covered(interest, run)


PATH = {1: {0: (0, 2)}, 2: {3: (1, 3)}}  # a-b-c-d: b and c fail, a knows b, d knows c
HEARD = {0: {1}, 3: {2}}


@pytest.mark.parametrize(
    ("known", "heard", "lost", "reason"),
    [
        (PATH, HEARD, [], "of 'b', 'c' different nodes knew, and the overlay between them fell apart"),
        (PATH, {**HEARD, 4: set()}, [], "of 'b', 'c' different nodes knew, and nobody heard of all of these failures"),
        (PATH, {0: {1, 2}, 3: {2}}, [], "'a' heard of all that failed, and did not connect its pieces"),
        (PATH, HEARD, [Lost("link", 3, 0, arrived=True), Lost("ask", 0, 3, arrived=False)],
         "all tries of a message (ask) from 'a' to 'd', which is there, were lost"),
        (PATH, HEARD, [Lost("ask", 0, 2, arrived=False), Lost("link", 3, 0, arrived=True)],
         "all acknowledgements of a message (link) from 'd' to 'a', which is there, were lost"),
        ({**PATH, 2: {}}, HEARD, [],
         "no node that stays was a neighbour or backup of 'c', which held its pieces together"),
        ({1: {0: (0,)}, 2: {3: (3,)}}, HEARD, [],
         "what nodes that stay had been told of the neighbours of 'b', 'c' was out of date"),
    ],
)  # fmt: skip
def test_the_reason_follows_from_the_record(known, heard, lost, reason):
    interest = tl.Interest.from_pairs(list("abcde"), ["news"] * 4 + ["other"])
    told = {node: {one: Told((0,), peers, (), ()) for one, peers in by.items()} for node, by in known.items()}
    record = LeaveRecord(interest, {1, 2}, [{1}, {0, 2}, {1, 3}, {2}, set()], told)
    links = [{4}, set(), set(), {4}, {0, 3}] if 4 in heard else [set()] * 5
    assert record.reason(0, links, heard, lost) == reason
    cut = LeaveRecord(interest, {1, 2}, [{1}, {0}, {3}, {2}, set()], told)
    assert cut.reason(0, links, heard, lost) == "it was in pieces before"


def test_a_neighbour_leads_when_the_first_does_not_answer():
    """Three nodes hang on one that goes; half of all messages are lost, and few tries are made."""
    interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    overlay = tl.Overlay.from_links(interest, [("a", "d"), ("b", "d"), ("c", "d")])
    runs = [
        tl.simulate_leaves(interest, overlay, ["d"], faults=tl.Faults(loss=0.5, tries=4), seed=seed)
        for seed in range(8)
    ]
    assert any(run.verdict.ok for run in runs)
    assert all(run.verdict.ok == run.leaves[-1].ok for run in runs)
    reasons = [why for run in runs for why in run.reasons.values()]
    assert reasons and all("which is there, were lost" in why for why in reasons)


def test_a_shadow_that_has_reported_is_not_missing_when_only_acknowledgements_were_lost():
    rule = RepairRule(3.0, 0, 1.0, 3, None, np.zeros(6, np.uint64))
    node = ShadowNode(1, (7,), rule)
    node.neighbours, node.told = {5: frozenset({7})}, {5: Told((7,), (1, 2, 3), (), ())}
    node.notice({5}, 0)
    asks = [send for send in node.start() if isinstance(send, Send)]
    assert [send.to for send in asks] == [2, 3]
    node.receive(2, ("report", 1, 1, (7,), (), ()))
    assert node.gave_up(2, asks[0].message) == [] and node.missing == set()
    searches = node.gave_up(3, asks[1].message)
    assert node.missing == {3} and [send.message for send in searches if isinstance(send, Send)] == [
        ("search", 1, (3,))
    ]


def test_pieces_that_reports_show_to_be_connected_need_no_link():
    rule = RepairRule(3.0, 0, 1.0, 3, None, np.zeros(6, np.uint64))
    apart = {1: (1, (7,), ()), 2: (1, (7,), ())}
    met = {1: (1, (7,), ((5, (7,)),)), 2: (1, (7,), ((5, (7,)),))}
    assert chosen_links(apart, {1, 2}, rule) == [(1, 2)] and chosen_links(met, {1, 2}, rule) == []
    assert chosen_links(apart, {1}, rule) == []  # 2 is a backup that hangs somewhere else


def test_who_is_not_there_cannot_leave():
    interest = tl.Interest.from_pairs(list("ab"), ["x"] * 2)
    with pytest.raises(InvalidOptionError, match="no node 'z'"):
        tl.simulate_leaves(interest, tl.greedy_merge(interest), ["z"])
    with pytest.raises(InvalidOptionError, match="can leave once"):
        tl.simulate_leaves(interest, tl.greedy_merge(interest), ["a", "a"])
    with pytest.raises(InvalidOptionError, match="can leave once"):
        tl.simulate_leaves(interest, tl.greedy_merge(interest), [("a", "a")])
    with pytest.raises(InvalidOptionError, match="candidates"):
        tl.simulate_leaves(interest, tl.greedy_merge(interest), ["a"], candidates=2)
