"""Laws of the degree family: how gm, minmax-oda and low-oda relate, what they refuse, and that the rule is kept."""

import subprocess
import sys
from math import inf, log2, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.errors import InvalidOptionError
from topicloom.kernels.greedy.topic_weights import topic_weights

SEEDS = range(10)
# Workload of low-oda §5.
NODES = (100, 400, 1000)


def workload(nodes, seed):
    return tl.generate(nodes, 100, 10, "zipf", alpha=0.5, seed=seed)


def degrees(method, nodes, **options):
    """(average, maximum) degree, means over the seeds."""
    built = [tl.design(workload(nodes, seed), method, seed=seed, **options).degree() for seed in SEEDS]
    return np.array([[degree.mean(), degree.max()] for degree in built]).mean(axis=0)


@pytest.mark.parametrize("nodes", NODES)
def test_rho_1_has_the_average_degree_of_gm(nodes):
    average, _ = degrees("low-oda", nodes, rho=1)
    assert average == pytest.approx(degrees("gm", nodes)[0], rel=0.01)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("nodes", NODES)
def test_an_infinite_rho_has_the_links_of_minmax_oda(nodes, seed):
    interest = workload(nodes, seed)
    expected = tl.minmax_oda(interest, seed=seed).links
    assert np.array_equal(tl.low_oda(interest, rho=inf, seed=seed).links, expected)
    assert np.array_equal(tl.low_oda(interest, rho=1e6, seed=seed).links, expected)  # no contribution is as high


@pytest.mark.parametrize("nodes", NODES)
def test_between_them_low_oda_lies_between_gm_and_minmax_oda(nodes):
    """Means over ten seeds; a greedy choice guarantees no order, so 1 % of the average and half a link are allowed."""
    least_average, most_max = degrees("gm", nodes)
    most_average, least_max = degrees("minmax-oda", nodes)
    for rho in (1.5, 2, 3, 5):
        average, maximum = degrees("low-oda", nodes, rho=rho)
        assert 0.99 * least_average <= average <= 1.01 * most_average
        assert least_max - 0.5 <= maximum <= most_max + 0.5


@pytest.mark.parametrize("rho", [0, 0.999, -3, nan, -inf, "3", None, True])
def test_rho_below_1_is_refused(rho):
    with pytest.raises(InvalidOptionError, match=r"rho is .*; a number from 1 up is accepted"):
        tl.low_oda(workload(100, 0), rho=rho)


@pytest.mark.parametrize("method", ["gm", "minmax-oda", "low-oda"])
@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, None])
def test_seeds_out_of_range_are_refused(method, seed):
    with pytest.raises(InvalidOptionError, match="seed"):
        tl.design(workload(100, 0), method, seed=seed)


@pytest.mark.parametrize("method", ["gm", "minmax-oda", "low-oda"])
@pytest.mark.parametrize(
    ("nodes", "topics"),
    [([], []), (["a"], ["x"]), (["a", "b", "c"], ["x", "y", "z"])],
    ids=["no nodes", "one node", "nothing shared"],
)
def test_nothing_to_connect_gives_no_links(method, nodes, topics):
    interest = tl.Interest.from_pairs(nodes, topics)
    overlay = tl.design(interest, method)
    assert overlay.n_links == 0 and len(overlay.degree()) == len(nodes)
    assert tl.verify(interest, overlay.links).ok


ONE_TOPIC = """
import resource, sys, time
import numpy as np, topicloom as tl
small = tl.Interest.from_csr(np.arange(50_001), np.zeros(50_000, np.int32), 1)
tl.design(small, sys.argv[1])  # compiled code is loaded, that of the same search
interest = tl.Interest.from_csr(np.arange(100_001), np.zeros(100_000, np.int32), 1)
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
overlay = tl.design(interest, sys.argv[1])
seconds = time.process_time() - began
kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert overlay.n_links == 99_999 and overlay.degree().max() == 2, (overlay.n_links, overlay.degree().max())
assert tl.verify(interest, overlay.links).ok
assert seconds < 10 and kilobytes < 300_000, (seconds, kilobytes)
"""


@pytest.mark.parametrize("method", ["gm", "minmax-oda", "low-oda"])
def test_one_topic_with_100_000_subscribers_takes_seconds_and_little_memory(method):
    """Five billion equal pairs. In a process of its own: the peak of memory is that of the method."""
    subprocess.run([sys.executable, "-W", "error", "-c", ONE_TOPIC, method], check=True)


def contribution(wants, links, weights, u, v):
    """Weight of the topics of u and v in which no path over subscribers joins them."""
    count = 0
    for topic in wants[u] & wants[v]:
        reached, front = {u}, [u]
        while front:
            at = front.pop()
            ends = {b for a, b in links if a == at} | {a for a, b in links if b == at}
            new = {x for x in ends if topic in wants[x]} - reached
            reached |= new
            front += new
        count += weights[topic] * (v not in reached)
    return count


def weights_of(wants, n_topics):
    """Weights of the topics, from their definition."""
    sizes = [sum(topic in want for want in wants) for topic in range(n_topics)]
    shared = sorted((size for size in sizes if size > 1), reverse=True)
    mean, freedom = sum(shared) / max(len(shared), 1), len(shared) - 1
    if not shared or sum((size - mean) ** 2 / mean for size in shared) <= freedom + 3 * (2 * freedom) ** 0.5:
        return [1] * n_topics  # as if drawn alike
    common = next((s for k, s in enumerate(shared) if 4 * sum(shared[: k + 1]) >= sum(shared)), 2)
    return [max(1, round(2 * 2 ** (round(log2(common / max(size, 2))) / 2))) for size in sizes]


def follows_the_rule(wants, links, rho, weights=(1,) * 6):
    """Replay: each link has the maximum of its rule at its moment, and none that contributes is left."""
    degree = [0] * len(wants)
    pairs = [(u, v) for u in range(len(wants)) for v in range(u + 1, len(wants))]
    for step in range(len(links) + 1):
        worth = {pair: contribution(wants, links[:step], weights, *pair) for pair in pairs}
        positive = [pair for pair in pairs if worth[pair]]
        if step == len(links):
            return not positive
        best = max((worth[pair] for pair in positive), default=0)
        raised = {pair: max(*degree, *(degree[x] + 1 for x in pair)) for pair in positive}
        calm = [pair for pair in positive if raised[pair] == min(raised.values())]
        calm_best = max((worth[pair] for pair in calm), default=0)
        link = links[step]
        if rho and (rho == inf or calm_best * rho >= best):
            if link not in calm or worth[link] != calm_best:
                return False
        elif worth.get(link, 0) != best or not best:
            return False
        for x in link:
            degree[x] += 1
    return True


@settings(max_examples=60, deadline=None)
@given(
    wants=st.lists(st.sets(st.integers(0, 5), max_size=5), min_size=2, max_size=7),
    seed=st.integers(0, 2**63 - 1),
    rho=st.sampled_from([1.0, 1.5, 2.0, 3.0, 8.0]),
)
def test_replay_through_the_public_interface(wants, seed, rho):
    indptr = np.cumsum([0, *map(len, wants)])
    interest = tl.Interest.from_csr(indptr, [topic for want in wants for topic in sorted(want)], 6)
    for method, options, rule in (("gm", {}, 0), ("minmax-oda", {}, inf), ("low-oda", {"rho": rho}, rho)):
        overlay = tl.design(interest, method, seed=seed, **options)
        assert tl.verify(interest, overlay.links).ok
        assert follows_the_rule(wants, [tuple(map(int, link)) for link in overlay.links], rule)


SCATTERED = st.lists(st.sets(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 4, 5]), max_size=5), min_size=2, max_size=12)
# one topic of all and some of few: more scatter than chance gives, so that weights differ
FEW = st.sets(st.integers(1, 5), max_size=2)
SKEWED = st.lists(FEW.map(lambda few: few | {0}), min_size=11, max_size=13)


def test_weights_differ_where_one_topic_is_of_all_and_others_of_two():
    wants = [{0, 1}, {0, 1}, {0, 2}, {0, 2}, {0, 3}, {0, 3}, *[{0}] * 7]
    assert weights_of(wants, 6)[:4] == [2, 6, 6, 6] == list(topic_weights([13, 2, 2, 2]))


@settings(max_examples=80, deadline=None)
@given(
    wants=SCATTERED | SKEWED,
    seed=st.integers(0, 2**63 - 1),
    rho=st.sampled_from([None, 1.0, 2.0, 3.0, inf]),
)
def test_replay_of_the_weighted_rule(wants, seed, rho):
    indptr = np.cumsum([0, *map(len, wants)])
    interest = tl.Interest.from_csr(indptr, [topic for want in wants for topic in sorted(want)], 6)
    overlay = tl.weighted_greedy_merge(interest, rho=rho, seed=seed)
    assert tl.verify(interest, overlay.links).ok
    links = [tuple(map(int, link)) for link in overlay.links]
    assert follows_the_rule(wants, links, rho or 0, weights_of(wants, 6))


@pytest.mark.parametrize(("popularity", "most"), [("zipf", 0.85), ("exponential", 0.83), ("uniform", 1.0)])
def test_weights_save_links_where_topics_differ_and_cost_none_where_they_do_not(popularity, most):
    ratios = []
    for seed in range(3):
        interest = tl.generate(1000, 100, 20, popularity, seed=seed)
        overlay = tl.weighted_greedy_merge(interest, seed=seed)
        assert tl.verify(interest, overlay.links).ok
        ratios.append(overlay.n_links / tl.greedy_merge(interest, seed=seed).n_links)
    assert np.mean(ratios) <= most


@pytest.mark.parametrize("rho", [0, 0.5, nan, True, "3"])
def test_the_weighted_rule_refuses_what_low_oda_refuses(rho):
    with pytest.raises(InvalidOptionError, match=r"rho is .*; a number from 1 up is accepted, or none"):
        tl.weighted_greedy_merge(workload(100, 0), rho=rho)


def test_dc_conquers_by_the_weighted_rule():
    interest = tl.generate(600, 100, 20, "zipf", seed=2)
    whole = tl.design(interest, "dc", partitions=1, inner="weighted-gm")
    assert np.array_equal(whole.links, tl.weighted_greedy_merge(interest).links)
    spared = tl.design(interest, "dc", partitions=1, inner="weighted-gm", rho=2)
    assert np.array_equal(spared.links, tl.weighted_greedy_merge(interest, rho=2).links)
    divided = tl.design(interest, "dc", partitions=3, division="similar", inner="weighted-gm")
    assert tl.verify(interest, divided.links).ok
    assert divided.n_links < tl.design(interest, "dc", partitions=3, division="similar").n_links


def test_the_replay_notices_a_link_that_is_not_the_best():
    wants = [{0, 1}, {0, 1}, {1}]
    assert follows_the_rule(wants, [(0, 1), (0, 2)], 0)
    assert not follows_the_rule(wants, [(0, 2), (0, 1)], 0)
    assert not follows_the_rule(wants, [(0, 1)], 0)
