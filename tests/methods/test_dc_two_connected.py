"""dc with inner="gm2": designs are 2-topic-connected, and merges follow GM2's rule over two star nodes per topic."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import EDGE_CASES, interests, survives
from support.star_merge_replay import star_sets, wants_of
from topicloom.errors import InvalidOptionError
from topicloom.methods.dc.partitioning import divide
from topicloom.methods.registry import spec_of
from topicloom.methods.selection import options_for, promised


@settings(max_examples=80)
@given(
    interests(max_nodes=12),
    st.integers(1, 6),
    st.sampled_from(["random", "similar"]),
    st.sampled_from([None, 0, 1, 2, 4]),
    st.sampled_from([2, 5, 20_000]),
    st.integers(0, 3),
)
def test_any_one_node_may_fail(interest, partitions, division, core, limit, seed):
    options = {"partitions": partitions, "division": division, "core": core, "merge_limit": limit}
    overlay = tl.design(interest, "dc", inner="gm2", seed=seed, **options)
    assert survives(interest, overlay.links, 1) and survives(interest, overlay.links, 2)
    assert tl.verify(interest, overlay.links, k=2).ok


@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_cases(name):
    for partitions in (2, 3, "auto"):
        overlay = tl.design(EDGE_CASES[name], "dc", inner="gm2", partitions=partitions)
        assert tl.verify(EDGE_CASES[name], overlay.links, k=2).ok


@given(interests(max_nodes=10), st.integers(0, 3))
def test_one_partition_has_the_links_of_gm2(interest, seed):
    overlay = tl.design(interest, "dc", inner="gm2", partitions=1, seed=seed)
    assert overlay.links.tolist() == tl.gm2(interest, seed=seed).links.tolist()


def estimates(wants, units, links):
    """GM2's estimate of every pair from different units: shared topics in which no block contains both.

    The star nodes of a unit that want a topic are linked with each other in it.
    """
    count = {(u, v): 0 for a, b in combinations(units, 2) for u, v in (sorted((u, v)) for u in a for v in b)}
    for topic in set().union(*wants):
        graph = nx.Graph()
        for unit in units:
            members = [v for v in unit if topic in wants[v]]
            graph.add_nodes_from(members)
            graph.add_edges_from(combinations(members, 2))
        graph.add_edges_from((u, v) for u, v in links if topic in wants[u] & wants[v])
        together = {pair for block in nx.biconnected_components(graph) for pair in combinations(sorted(block), 2)}
        for pair in count:
            count[pair] += set(pair) <= set(graph) and pair not in together
    return count


@settings(max_examples=40)
@given(interests(max_nodes=10, max_topics=5), st.integers(2, 4), st.integers(0, 3))
def test_merges_replayed(interest, partitions, seed):
    if partitions >= interest.n_nodes:
        return
    overlay = tl.design(interest, "dc", inner="gm2", partitions=partitions, seed=seed)
    partition = divide(interest, partitions, "random", seed=seed)
    units = [np.flatnonzero(partition == number).tolist() for number in range(partitions)]
    stars = star_sets(interest, units, seed, needs=2)
    assert overlay.report["star_nodes"] == sum(map(len, stars))
    wants, links = wants_of(interest), []
    for u, v in overlay.links[overlay.report["inner_links"] :].tolist():
        count = estimates(wants, stars, links)
        assert count[u, v] == max(count.values()) > 0
        links.append((u, v))
    assert not any(estimates(wants, stars, links).values())


def test_few_more_links_than_gm2():
    interest = tl.generate(nodes=400, topics=50, subscriptions=10, popularity="zipf", alpha=0.8, seed=1)
    overlay = tl.design(interest, "dc", inner="gm2", partitions=4)
    assert tl.verify(interest, overlay.links, k=2).ok
    assert overlay.n_links <= 1.6 * tl.gm2(interest).n_links


def test_the_design_is_judged_at_2():
    spec = spec_of("dc")
    assert [promised(spec, None, {"inner": inner}) for inner in ("gm", "low-oda", "gm2")] == [1, 1, 2]
    assert promised(spec_of("gm2"), None) == 1 and promised(spec_of("harary-pt"), None) == 2
    assert options_for(spec, 2, {"inner": "gm2"}) == {}
    with pytest.raises(InvalidOptionError, match="not 2"):
        options_for(spec, 2, {"inner": "gm"})
    with pytest.raises(InvalidOptionError, match="not 3"):
        options_for(spec, 3, {"inner": "gm2"})
