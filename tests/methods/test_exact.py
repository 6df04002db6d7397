"""The exact method finds the fewest links, and proves nothing that is not so."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.fewest_links import fewest_links
from support.small_interests import cases, interests, one_topic
from topicloom.errors import InvalidLinksError, InvalidOptionError, NoTruthValueError
from topicloom.methods.bounds.search import found_pair_prices, found_potentials
from topicloom.methods.exact.branching import branch, candidate_links


def sharing_pairs(interest: tl.Interest) -> np.ndarray:
    topics = [set(interest.topics_of(v).tolist()) for v in range(interest.n_nodes)]
    return np.array([p for p in combinations(range(interest.n_nodes), 2) if topics[p[0]] & topics[p[1]]], np.int32)


@settings(max_examples=200, deadline=None)
@given(interests(max_nodes=6, max_topics=5))
def test_the_fewest_links_are_found_and_the_proof_is_true(interest):
    overlay = tl.exact(interest, effort=3, seconds=20)
    assert overlay.verify().ok
    assert overlay.n_links == fewest_links(interest)
    assert overlay.report["exact"]["bound"] <= overlay.n_links


@settings(max_examples=40, deadline=None)
@given(interests(max_nodes=6, max_topics=4))
def test_branching_alone_finds_the_fewest_links(interest):
    start, optimum = tl.design(interest, "ring-pt").n_links, fewest_links(interest)
    pairs = sharing_pairs(interest)
    if len(pairs):
        found = branch(interest, pairs, 0, start, 20)
        assert found.at_least == optimum
        assert found.links is not None
        assert len(found.links) == optimum
        assert tl.verify(interest, found.links).ok
        assert branch(interest, pairs, 0, optimum - 1, 20).links is None


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=6, max_topics=4))
def test_no_link_that_an_optimal_overlay_contains_is_ruled_out(interest):
    prices = found_pair_prices(interest, found_potentials(interest, 1)[0], 1)
    optimal = tl.exact(interest, effort=3)
    kept = {tuple(pair) for pair in candidate_links(interest, prices, optimal.n_links).tolist()}
    assert {tuple(link) for link in optimal.links.tolist()} <= kept


@pytest.mark.parametrize("popularity", ["uniform", "exponential"])
def test_fifty_nodes_are_proved_by_prices_alone(popularity):
    interest = tl.generate(nodes=50, topics=20, subscriptions=5, popularity=popularity, seed=1)
    assert tl.exact(interest).report["exact"]["sentence"] == "optimal, proved by prices"


@settings(max_examples=150, deadline=None)
@given(cases(max_nodes=6, max_topics=4, max_links=5))
def test_the_fewest_links_beside_those_that_stand_are_found_and_the_proof_is_true(case):
    interest, standing = case
    overlay = tl.exact(interest, effort=2, seconds=20, standing=standing)
    assert overlay.verify().ok
    assert [tuple(sorted(link)) for link in standing] == [
        tuple(link) for link in overlay.links[: len(standing)].tolist()
    ]
    assert overlay.n_links == fewest_links(interest, standing)
    assert overlay.report["exact"]["bound"] <= overlay.n_links


@settings(max_examples=40, deadline=None)
@given(cases(max_nodes=6, max_topics=4, max_links=4))
def test_branching_alone_finds_the_fewest_links_beside_those_that_stand(case):
    interest, standing = case
    optimum = fewest_links(interest, standing)
    first = np.array([sorted(link) for link in standing], np.int32).reshape(-1, 2)
    others = [pair for pair in sharing_pairs(interest).tolist() if pair not in first.tolist()]
    pairs = np.concatenate([first, np.array(others, np.int32).reshape(-1, 2)])
    if others:
        found = branch(interest, pairs, 0, len(pairs), 20, len(first))
        assert found.links is not None
        assert len(found.links) == found.at_least == optimum
        assert found.links[: len(first)].tolist() == first.tolist()
        assert branch(interest, pairs, 0, optimum - 1, 20, len(first)).links is None


@settings(max_examples=30, deadline=None)
@given(cases(max_nodes=6, max_topics=4, max_links=5))
def test_existence_of_a_join_is_answered_with_evidence(case):
    """Avg-TCO-Join, Def. 3 of the star-merge paper; the standing links may be any."""
    interest, standing = case
    optimum = fewest_links(interest, standing)
    yes = tl.tco_exists(interest, links=optimum, effort=2, standing=standing)
    assert (yes.answer, yes.overlay.n_links, yes.overlay.verify().ok) == ("yes", optimum, True)
    assert {tuple(sorted(link)) for link in standing} <= {tuple(link) for link in yes.overlay.links.tolist()}
    if optimum:
        no = tl.tco_exists(interest, links=optimum - 1, effort=2, standing=standing)
        assert (no.answer, no.at_least) == ("no", optimum)
        assert no.bound.check(interest)


@pytest.mark.parametrize("seed", range(3))
def test_a_join_stands_beside_its_optimum(seed):
    interest = tl.generate(nodes=24, topics=10, subscriptions=4, seed=seed)
    sites = [tl.greedy_merge(interest.restrict(range(at, at + 12))) for at in (0, 12)]
    joined = [tl.join(sites, method=method) for method in tl.JOIN_METHODS]
    standing = [link for site in sites for link in site.to_pandas()[["src", "dst"]].itertuples(index=False)]
    best = tl.exact(interest, effort=10, standing=standing)
    assert best.report["exact"]["optimal"]
    assert sum(site.n_links for site in sites) < best.n_links <= min(one.n_links for one in joined)
    assert tl.lower_bound(interest, standing=standing).links <= best.n_links
    assert best.n_links >= tl.exact(interest, effort=10).n_links


def test_a_link_that_stands_is_kept_though_no_topic_needs_it():
    interest = tl.Interest.from_pairs(list("aabbcd"), list("xyxyzz"))
    overlay = tl.exact(interest, standing=[("a", "c"), ("c", "d")])
    assert overlay.to_pandas()[["src", "dst"]].values.tolist() == [["a", "c"], ["c", "d"], ["a", "b"]]
    assert overlay.report["exact"]["standing"] == 2
    with pytest.raises(InvalidLinksError, match="not in the subscriptions, such as 'q'"):
        tl.exact(interest, standing=[("a", "q")])


def test_a_gap_that_is_left_is_said():
    interest = tl.generate(nodes=100, topics=30, subscriptions=6, seed=1)
    overlay = tl.exact(interest, effort=1, seconds=0.01)
    report = overlay.report["exact"]
    assert (report["optimal"], report["proof"]) == (False, "none")
    gap = overlay.n_links - report["bound"]
    assert report["sentence"].endswith(f"at least {report['bound']} needed, a gap of {gap}")


@settings(max_examples=20, deadline=None)
@given(interests(max_nodes=6, max_topics=4))
def test_existence_is_answered_with_evidence(interest):
    optimum = fewest_links(interest)
    yes = tl.tco_exists(interest, links=optimum, effort=3)
    assert (yes.answer, yes.overlay.n_links <= optimum, yes.overlay.verify().ok) == ("yes", True, True)
    if optimum:
        no = tl.tco_exists(interest, links=optimum - 1, effort=3)
        assert no.answer == "no"
        assert no.at_least == optimum
        assert no.bound.check(interest)


def test_what_is_not_known_is_said_with_both_numbers():
    interest = tl.generate(nodes=300, topics=60, subscriptions=8, seed=1)
    answer = tl.tco_exists(interest, links=tl.lower_bound(interest).links, effort=0.1, seconds=0.1)
    assert answer.answer == "unknown"
    assert answer.at_least < answer.overlay.n_links
    with pytest.raises(NoTruthValueError):
        bool(answer)


@settings(max_examples=40, deadline=None)
@given(
    interests(max_nodes=4, max_topics=4),
    st.sampled_from(["average", "maximum"]),
    st.sampled_from(["diameter", "mean-diameter", "filtering"]),
    st.sampled_from([0, 1, 1.5, 2, 3]),
    st.sampled_from([-1, 0, 0.5, 1, 1.5, 2, 3]),
)
def test_degrees_and_costs_that_exist_are_told_from_those_that_do_not(interest, degree, cost, d, C):
    answer = tl.soc_exists(interest, degree=degree, cost=cost, d=d, C=C, effort=1)
    exists = any(
        tl.soc(interest, links, degree=degree, cost=cost, d=d, C=C).ok for links in all_overlays(interest.n_nodes)
    )
    assert answer.answer in (("yes", "unknown") if exists else ("no", "unknown"))
    if answer.answer == "yes":
        assert tl.soc(interest, answer.overlay, degree=degree, cost=cost, d=d, C=C).ok
    if (degree, cost) == ("average", "diameter"):
        assert answer.answer != "unknown"


def all_overlays(n: int):
    pairs = list(combinations(range(n), 2))
    for size in range(len(pairs) + 1):
        for links in combinations(pairs, size):
            yield np.array(links, np.int32).reshape(-1, 2)


def test_six_brokers_in_a_ring_and_a_hub():
    interest = tl.datasets.example()
    assert tl.soc_exists(interest, degree="maximum", d=2, C=3).overlay.degree().tolist() == [2] * 6
    no = tl.soc_exists(interest, d=1.6, C=2)
    assert (no.answer, no.at_least, no.overlay) == ("no", 10 / 6, None)
    assert tl.soc_exists(interest, cost="filtering", d=2, C=0).bound.check(interest)


@pytest.mark.parametrize(("nodes", "C", "degree"), [(5, 2, 2), (6, 2, 3), (6, 3, 2), (10, 2, 3), (11, 2, 4)])
def test_so_many_nodes_within_so_many_hops_need_a_degree(nodes, C, degree):
    """Within C hops of a node of degree d there are d + d (d - 1) + … others at most (Moore)."""
    answer = tl.soc_exists(one_topic(nodes), degree="maximum", d=degree - 1, C=C, effort=1)
    assert (answer.answer, answer.at_least) == ("no", degree)


def test_large_interests_and_odd_options_are_refused():
    with pytest.raises(InvalidOptionError, match="at most 2,000 nodes"):
        tl.exact(one_topic(2001))
    with pytest.raises(InvalidOptionError, match="seconds is 0"):
        tl.exact(one_topic(3), seconds=0)
    with pytest.raises(InvalidOptionError, match="effort is inf"):
        tl.design(one_topic(3), "exact", effort=float("inf"))
    with pytest.raises(InvalidOptionError, match="no degree function"):
        tl.soc_exists(one_topic(3), degree="least", d=1, C=1)
