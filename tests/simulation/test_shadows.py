"""Leaves repaired by shadows alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.errors import InvalidOptionError
from topicloom.simulation.shadow_node import Rule, chosen_links


@st.composite
def leavings(draw):
    n = draw(st.integers(2, 12))
    wants = [draw(st.sets(st.sampled_from("pqrs"), min_size=1)) for _ in range(n)]
    pairs = [(f"n{v}", topic) for v in range(n) for topic in sorted(wants[v])]
    interest = tl.Interest.from_pairs(*map(list, zip(*pairs, strict=True)))
    order = draw(st.permutations(interest.node_labels.tolist()))
    return interest, order[: draw(st.integers(1, n))]


@settings(max_examples=60)
@given(leavings(), st.sampled_from([0.0, 0.2]), st.integers(0, 3))
def test_every_leave_is_repaired_by_shadows_alone(leaving, loss, seed):
    interest, leaves = leaving
    run = tl.simulate_leaves(interest, tl.low_oda(interest), leaves, faults=tl.Faults(loss=loss, tries=30), seed=seed)
    assert run.verdict.ok and all(leave.ok for leave in run.leaves)
    assert [leave.node for leave in run.leaves] == leaves
    assert sorted(run.overlay.interest.node_labels.tolist()) == sorted(set(interest.node_labels.tolist()) - set(leaves))


def test_it_counts_messages_by_shadow_and_links_beyond_those_of_the_centre():
    interest = tl.generate(nodes=300, topics=40, subscriptions=6, seed=1)
    overlay = tl.low_oda(interest)
    leaves = [interest.node_label(v) for v in range(0, 300, 15)]
    run = tl.simulate_leaves(interest, overlay, leaves)
    assert all(leave.messages <= 5 * leave.shadows + 3 * leave.links for leave in run.leaves)
    centre = tl.Maintainer(interest, overlay)
    added = sum(len(centre.leave(name).added) for name in leaves)
    assert run.verdict.ok and added <= sum(leave.links for leave in run.leaves) <= 3 * added


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


def test_pieces_that_reports_show_to_be_connected_need_no_link():
    rule = Rule(3.0, 0, 1.0)
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
