"""Interests that refute bounds which once stood in our docs, through the public functions; see docs/errata.md."""

from math import log

import numpy as np
import pytest

import topicloom as tl
from support.paper_instances import chains_and_hub, pairs_and_v_all
from support.printed_greedy_merge import connected_topics, printed_greedy_merge
from support.small_interests import interest_of
from topicloom_papers.printed.literal_gm import literal_greedy_merge


def max_degree(links, n_nodes):
    return int(np.bincount(np.asarray(links).ravel(), minlength=n_nodes).max())


@pytest.mark.parametrize(
    ("rho", "n", "nodes", "low_oda"),
    [(1, 10, 31, 12), (1, 20, 61, 22), (1, 40, 121, 42), (1, 80, 241, 82), (3, 20, 101, 24), (3, 40, 201, 44)],
)
def test_low_oda_makes_a_hub_where_a_small_maximum_degree_is_possible(rho, n, nodes, low_oda):
    interest, witness = chains_and_hub(n, rho + 1)
    lowest = max(rho + 1, 3)
    assert interest.n_nodes == nodes
    assert tl.verify(interest, witness).ok and max_degree(witness, nodes) == lowest
    for seed in range(2):
        overlay = tl.low_oda(interest, rho=rho, seed=seed)
        assert tl.verify(interest, overlay.links).ok
        assert overlay.degree().max() == low_oda


def test_the_maximum_degree_of_low_oda_exceeds_rho_times_the_logarithm():
    interest, witness = chains_and_hub(80, 2)
    lowest, found = max_degree(witness, interest.n_nodes), tl.low_oda(interest, rho=1).degree().max()
    assert found > 1 * log(interest.n_subscriptions) * lowest
    assert found <= interest.n_nodes / 1 * log(interest.n_subscriptions) * lowest
    assert "(nodes / rho)" in tl.METHODS["low-oda"].guarantee


def test_dc_1_dividing_can_cost_ever_more_links_than_the_optimum():
    """Star-merge §IV: a topic for each pair of n nodes, and a node that wants all; 25, 50 and 100 nodes, p = 2."""
    ratios = []
    for n in (25, 50, 100):
        interest, star = pairs_and_v_all(n)
        assert tl.verify(interest, star).ok
        assert tl.greedy_merge(interest).n_links == len(star) == n
        overlay = tl.design(interest, "dc", partitions=2)
        assert tl.verify(interest, overlay.links).ok
        ratios.append(overlay.n_links / n)
    assert ratios == pytest.approx([4.12, 7.5, 13.25], abs=0.005)
    assert min(np.diff(np.log2(ratios))) > 0.8  # nearly doubles with n, where p · log would hardly move
    assert "else unbounded" in tl.METHODS["dc"].guarantee


SIX = [{2, 3, 4}, {1, 3, 4}, {0, 1, 2, 4}, {2, 4, 5}, {1, 4}, {1, 4, 5}]
SIX_LINKS = [(1, 2), (0, 2), (1, 5), (4, 5), (3, 5), (2, 3)]
FOUR = [{0, 1, 3}, {0, 2, 3, 4}, {0, 1, 4}, {0, 1, 2}]
FOUR_LINKS = [(0, 3), (0, 2), (0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("wants", "links", "cut"), [(SIX, SIX_LINKS, 3), (FOUR, FOUR_LINKS, 2)], ids=["six nodes", "four nodes"]
)
def test_gm_1_greedy_merge_as_printed_leaves_a_topic_unconnected(wants, links, cut):
    order = iter(links)

    def choose(best):
        link = next(order)
        assert link in best
        return link

    assert printed_greedy_merge(wants, choose) == links
    assert connected_topics(wants, links) == set().union(*wants) - {cut}
    interest = interest_of(wants, max(set().union(*wants)) + 1)
    assert [broken.topic for broken in tl.verify(interest, links).broken] == [cut]
    assert tl.verify(interest, tl.greedy_merge(interest).links).ok


def test_the_baseline_that_skips_connected_topics_is_topic_connected_where_the_print_is_not():
    rng = np.random.default_rng(1)
    printed = 0
    for _ in range(300):
        wants = [set(np.flatnonzero(rng.random(6) < 0.5).tolist()) for _ in range(6)]
        everything = set().union(*wants)
        interest = interest_of(wants, 6)
        links = literal_greedy_merge(interest.indptr, interest.topics, 6)
        assert tl.verify(interest, links).ok
        mended = printed_greedy_merge(wants, skip_connected=True)
        assert connected_topics(wants, mended) == everything
        printed += connected_topics(wants, printed_greedy_merge(wants)) != everything
    assert printed > 0


def test_gm_3_no_bound_with_the_constant_1_holds_for_a_single_link():
    """Two nodes, one topic: one link is needed, and ln(subscriptions) is below 1."""
    interest = tl.Interest.from_pairs(["a", "b"], ["x", "x"])
    for method in ("gm", "minmax-oda"):
        assert tl.design(interest, method).n_links == 1 > log(interest.n_subscriptions)
    assert "O(log(nodes · topics))" in tl.METHODS["minmax-oda"].guarantee
    assert "1 + ln(subscriptions)" in tl.METHODS["gm"].guarantee
