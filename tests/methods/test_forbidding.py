"""Links that may not be: the engine keeps off them, and the judge names the topics that they cut."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import interests, sub_overlay
from topicloom.errors import InvalidLinksError, InvalidOptionError
from topicloom.judge.connected import forbidden_links, separated_groups


@st.composite
def forbidding(draw):
    interest = draw(interests())
    pairs = list(combinations(range(interest.n_nodes), 2))
    return interest, draw(st.lists(st.sampled_from(pairs), max_size=20)) if pairs else []


@settings(max_examples=60)
@given(forbidding(), st.sampled_from(["gm", "low-oda", "minmax-oda", "weighted-gm"]))
def test_no_forbidden_link_is_used_and_every_topic_is_as_connected_as_it_can_be(given_, method):
    interest, forbid = given_
    overlay = tl.design(interest, method, forbid=np.array(forbid, np.int64).reshape(-1, 2))
    assert not len(forbidden_links(overlay.links, forbid, interest.n_nodes))
    for t in range(interest.n_topics):
        allowed = nx.Graph()
        members = interest.subscribers(t).tolist()
        allowed.add_nodes_from(members)
        allowed.add_edges_from(set(combinations(members, 2)) - {tuple(sorted(pair)) for pair in forbid})
        groups = sorted(tuple(sorted(group)) for group in nx.connected_components(allowed))
        assert sorted(separated_groups(members, forbid)) == groups
        graph = sub_overlay(interest, overlay.links, t)
        assert nx.number_connected_components(graph) == len(groups)


@settings(max_examples=40)
@given(forbidding(), st.integers(1, 4))
def test_stacked_overlays_keep_off_forbidden_links_and_lose_nothing_to_gm2(given_, k):
    interest, forbid = given_
    pairs = np.array(forbid, np.int64).reshape(-1, 2)
    overlay = tl.design(interest, "stacked-gm", k=k, forbid=pairs)
    assert not len(forbidden_links(overlay.links, forbid, interest.n_nodes))
    least = min(k, 2)
    floor = tl.design(interest, ["gm", "gm2"][least - 1], forbid=pairs)
    assert tl.verify(interest, overlay, k=least).ok or not tl.verify(interest, floor, k=least).ok


def test_nothing_forbidden_gives_the_very_links_of_the_method():
    interest = tl.generate(nodes=30, topics=10, subscriptions=3, seed=1)
    free = tl.design(interest, "gm")
    assert tl.design(interest, "gm", forbid=[]).links.tolist() == free.links.tolist()
    barred = tl.design(interest, "gm", forbid=free.links)
    assert not {*map(tuple, barred.links.tolist())} & {*map(tuple, free.links.tolist())}
    assert barred.report["forbidden_pairs"] == free.n_links


def test_pairs_come_as_labels_too():
    interest = tl.Interest.from_pairs(list("abc"), list("xxx"))
    assert tl.greedy_merge(interest, forbid=[("b", "a"), ("c", "b")]).links.tolist() == [[0, 2]]
    with pytest.raises(InvalidLinksError, match="'z'"):
        tl.greedy_merge(interest, forbid=[("a", "z")])


def test_methods_that_cannot_keep_off_links_say_so():
    interest = tl.Interest.from_pairs(list("abc"), list("xxx"))
    with pytest.raises(InvalidOptionError, match="ring-pt cannot keep off forbidden links; auto, gm"):
        tl.design(interest, "ring-pt", forbid=[(0, 1)])
