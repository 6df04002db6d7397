"""The greedy engine against its slow twin: the same links, link by link, whatever the search."""

import os
import subprocess
import sys
from math import inf, log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topicloom.kernels.greedy import loop as greedy_loop
from topicloom.kernels.greedy.dense import columns
from topicloom.kernels.greedy.engine import GREEDY_MERGE, MINMAX_ODA, greedy_links
from topicloom.kernels.greedy.topic_weights import topic_weights

sys.path.insert(0, str(Path(__file__).parent))
from reference import Reference, csr

RULES = (GREEDY_MERGE, 1.0, 1.5, 3.0, MINMAX_ODA)
SEARCHES = ("dense", "sparse", "listed")
# A subset that is quick without the compiler.
EXAMPLES = int(os.environ.get("GREEDY_EXAMPLES", "200"))
INNER = "GREEDY_EXAMPLES" in os.environ


@pytest.fixture(autouse=True, scope="module")
def loop_in_python():
    """With bounds checked, the loop itself is not compiled: it would take as long as all that it calls."""
    if not (INNER and "NUMBA_BOUNDSCHECK" in os.environ):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        for name in ("grow", "_add", "_cap", "_least_worth"):
            patch.setattr(greedy_loop, name, getattr(greedy_loop, name).py_func)
        yield


def links_of(array):
    return [tuple(map(int, link)) for link in array]


def node_pairs(n):
    return st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1]), max_size=8)


@st.composite
def instances(draw):
    """(wants, n_topics, seed): from nothing to crowded."""
    n_topics = draw(st.sampled_from([1, 2, 5, 9, 70, 130]))
    sizes = st.sets(st.integers(0, n_topics - 1), max_size=min(n_topics, 12))
    return draw(st.lists(sizes, max_size=14)), n_topics, draw(st.integers(0, 2**63 - 1))


@st.composite
def options(draw, n, n_topics):
    """What a caller may restrict or presuppose: (keywords of greedy_links, the same for Reference)."""
    ours, twins = {}, {}
    if n >= 2 and draw(st.booleans()):
        ours["start_links"] = twins["start_links"] = draw(node_pairs(n))
    if n >= 2 and draw(st.booleans()):
        ours["barred_links"] = twins["barred"] = draw(node_pairs(n))
    if draw(st.booleans()):
        ours["max_degree"] = twins["max_degree"] = draw(st.integers(0, 3))
    if n and draw(st.booleans()):
        nodes = draw(st.lists(st.integers(0, n - 1), unique=True))
        ours["candidate_nodes"] = nodes
        twins["pairs"] = [(u, v) for u in nodes for v in nodes if u < v]
    elif n >= 2 and draw(st.booleans()):
        ours["candidate_links"] = twins["pairs"] = draw(node_pairs(n))
    if draw(st.booleans()):
        topics = draw(st.sets(st.integers(0, n_topics - 1)))
        ours["topic_mask"] = np.isin(np.arange(n_topics), list(topics))
        twins["topics"] = topics
    if draw(st.booleans()):
        twins["groups"] = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return ours, twins


@settings(max_examples=EXAMPLES, deadline=None)
@given(instances())
def test_every_search_replays_the_rule(instance):
    wants, n_topics, seed = instance
    for rho in RULES:
        expected = Reference(wants, seed).run(rho)
        for search in SEARCHES:
            assert links_of(greedy_links(*csr(wants), n_topics, rho=rho, search=search, seed=seed)) == expected


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_restrictions_and_standing_links(data):
    wants, n_topics, seed = data.draw(instances())
    ours, twins = data.draw(options(len(wants), n_topics))
    if "groups" in twins:
        ours["components"] = np.repeat(np.array(twins["groups"], np.int32), [len(w) for w in wants])
    for rho in RULES:
        expected = Reference(wants, seed, **twins).run(rho)
        for search in SEARCHES:
            assert links_of(greedy_links(*csr(wants), n_topics, rho=rho, search=search, seed=seed, **ours)) == expected


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_every_search_replays_the_weighted_rule(data):
    wants, n_topics, seed = data.draw(instances())
    ours, twins = data.draw(options(len(wants), n_topics))
    if "groups" in twins:
        ours["components"] = np.repeat(np.array(twins["groups"], np.int32), [len(w) for w in wants])
    weights = data.draw(st.lists(st.sampled_from([1, 2, 3, 8, 300]), min_size=n_topics, max_size=n_topics))
    for rho in RULES:
        expected = Reference(wants, seed, weights=weights, **twins).run(rho)
        for search in SEARCHES:
            links = greedy_links(*csr(wants), n_topics, rho=rho, search=search, seed=seed, weights=weights, **ours)
            assert links_of(links) == expected


def test_equal_weights_are_no_weights():
    indptr, topics = crowd(300, 60, 9)
    plain = greedy_links(indptr, topics, 60, seed=4)
    for search in SEARCHES:
        weighted = greedy_links(indptr, topics, 60, weights=np.full(60, 7), search=search, seed=4)
        assert np.array_equal(plain, weighted)


@pytest.mark.parametrize("rho", (GREEDY_MERGE, 3.0))
@pytest.mark.parametrize("heaviest", [9, 40, 20_000])
def test_weighted_searches_agree_at_size(rho, heaviest):
    """One, two and four bytes for a bound."""
    indptr, topics = crowd(700, 60, 9)
    weights = np.where(np.arange(60) % 7 == 0, heaviest, 1 + np.arange(60) % 3)
    dense, sparse, listed = (
        greedy_links(indptr, topics, 60, weights=weights, rho=rho, search=search, seed=3) for search in SEARCHES
    )
    assert np.array_equal(dense, sparse) and np.array_equal(dense, listed)


def test_weighted_rare_topics_are_counted_apart():
    wants = skewed(1001)
    indptr, topics = csr(wants)
    weights = topic_weights(np.bincount(topics, minlength=300))
    assert len(set(weights.tolist())) > 1
    for rho in (GREEDY_MERGE, 3.0):
        dense, sparse = (
            greedy_links(indptr, topics, 300, search=search, weights=weights, rho=rho, seed=2)
            for search in ("dense", "sparse")
        )
        assert np.array_equal(dense, sparse)


def by_chance(sizes):
    mean, freedom = sum(sizes) / len(sizes), len(sizes) - 1
    return sum((size - mean) ** 2 / mean for size in sizes) <= freedom + 3 * (2 * freedom) ** 0.5


def test_sizes_that_scatter_by_chance_alone_get_equal_weights():
    drawn = np.random.default_rng(1).poisson(12, 40)
    assert len(set(topic_weights(np.full(40, 12)).tolist())) == len(set(topic_weights(drawn).tolist())) == 1
    assert drawn.max() > 2 * drawn.min()
    drawn[:10] *= 4
    assert len(set(topic_weights(drawn).tolist())) > 1


@given(st.lists(st.integers(0, 5000), max_size=30))
def test_weights_are_half_octaves_of_the_subscribers(subscribers):
    weights = topic_weights(np.array(subscribers, np.int64)).tolist()
    shared = sorted((s for s in subscribers if s > 1), reverse=True)
    if not shared or by_chance(shared):
        assert weights == [1] * len(subscribers)
        return
    so_far, quarter = 0, sum(shared) / 4
    for reference in shared:
        so_far += reference
        if so_far >= quarter:
            break
    for size, weight in zip(subscribers, weights):
        half_octaves = round(log2(reference / max(size, 2)))
        assert weight == max(1, round(2 * 2 ** (half_octaves / 2)))


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("rho", RULES)
@pytest.mark.parametrize(
    "wants",
    [[], [set()], [{0}], [{0}, {1}], [{0}] * 9, [set(range(7))] * 6, [set(), {0}, set(), {0}]],
    ids=["no nodes", "no topics", "one node", "nothing shared", "one topic", "all want all", "idle nodes"],
)
def test_small_cases(wants, rho, search):
    links = greedy_links(*csr(wants), 8, rho=rho, search=search, seed=3)
    assert links.shape == (len(links), 2) and links.dtype == np.int32
    assert links_of(links) == Reference(wants, 3).run(rho)


@pytest.mark.parametrize("search", SEARCHES)
def test_contributions_above_a_byte(search):
    rng = np.random.default_rng(1)
    wants = [set(rng.choice(450, 380, replace=False).tolist()) for _ in range(7)]
    for rho in (GREEDY_MERGE, MINMAX_ODA):
        assert links_of(greedy_links(*csr(wants), 450, rho=rho, search=search, seed=5)) == Reference(wants, 5).run(rho)


def crowd(n_nodes, n_topics, size, seed=0):
    rng = np.random.default_rng(seed)
    topics = np.argpartition(rng.random((n_nodes, n_topics)), size, axis=1)[:, :size]
    return np.arange(n_nodes + 1, dtype=np.int64) * size, np.sort(topics, axis=1).astype(np.int32).ravel()


@pytest.mark.parametrize("rho", RULES)
@pytest.mark.parametrize("n_nodes", [129, 700, 1001])
def test_searches_agree_at_size(n_nodes, rho):
    indptr, topics = crowd(n_nodes, 60, 9)
    given = {"start_links": [(k, k + 40) for k in range(0, 80, 3)], "rho": rho, "seed": 11}
    dense, sparse, listed = (greedy_links(indptr, topics, 60, search=search, **given) for search in SEARCHES)
    assert np.array_equal(dense, sparse) and np.array_equal(dense, listed)


def skewed(n_nodes, seed=0):
    """Forty topics that every other node wants, and 260 that two or three do."""
    rng = np.random.default_rng(seed)
    wants = [set(np.flatnonzero(rng.random(40) < 0.5).tolist()) for _ in range(n_nodes)]
    for topic in range(40, 300):
        for node in rng.choice(n_nodes, rng.integers(2, 4), replace=False):
            wants[node].add(topic)
    return wants


@pytest.mark.parametrize("rho", RULES)
def test_rare_topics_are_counted_apart(rho):
    wants = skewed(40)
    subscribers = np.sort(np.bincount(csr(wants)[1], minlength=300))[::-1]
    assert 40 <= 8 * columns(subscribers, 40, 1) < 150
    standing = {"start_links": [(0, 1), (2, 30)], "groups": [v % 3 for v in range(40)]}
    for twins in ({}, standing):
        ours = {} if not twins else {
            "start_links": twins["start_links"],
            "components": np.repeat(np.array(twins["groups"], np.int32), [len(w) for w in wants]),
        }  # fmt: skip
        expected = Reference(wants, 5, **twins).run(rho)
        assert links_of(greedy_links(*csr(wants), 300, rho=rho, search="dense", seed=5, **ours)) == expected


def test_rare_topics_at_size():
    indptr, topics = csr(skewed(1001))
    for rho in (GREEDY_MERGE, 3.0):
        dense, sparse = (greedy_links(indptr, topics, 300, search=one, rho=rho, seed=2) for one in ("dense", "sparse"))
        assert np.array_equal(dense, sparse)


def test_candidates_within_a_large_interest():
    indptr, topics = crowd(1200, 60, 9)
    nodes = np.random.default_rng(2).choice(1200, 300, replace=False)
    dense, sparse, listed = (
        greedy_links(indptr, topics, 60, candidate_nodes=nodes, search=search, rho=3.0, seed=1) for search in SEARCHES
    )
    assert np.array_equal(dense, sparse) and np.array_equal(dense, listed)
    assert np.isin(dense, nodes).all()


def test_an_infinite_rho_is_minmax_oda():
    assert inf == MINMAX_ODA
    indptr, topics = crowd(300, 100, 10)
    almost = greedy_links(indptr, topics, 100, rho=1e9, seed=4)
    assert np.array_equal(almost, greedy_links(indptr, topics, 100, rho=MINMAX_ODA, seed=4))


def test_one_topic_with_many_subscribers():
    n = 100_000
    links = greedy_links(np.arange(n + 1), np.zeros(n, np.int32), 1, seed=0)
    assert len(links) == n - 1
    assert np.bincount(links.ravel()).max() == 2


def random_ties_max_degree(indptr, topics, n_topics, rng):
    """Maximum degree of Greedy Merge with a random order of ties: nodes relabelled, ties by a random key per pair."""
    n = len(indptr) - 1
    wants = np.zeros((n, n_topics), np.int32)
    wants[np.repeat(np.arange(n), np.diff(indptr)), topics] = 1
    u, v = np.triu_indices(n, 1)
    worth = (wants @ wants.T)[u, v]
    label = np.tile(np.arange(n, dtype=np.int32)[:, None], n_topics)
    key = rng.random(len(u))
    order = np.lexsort((key, -worth))
    buckets = [list(order[worth[order] == level][::-1]) for level in range(worth.max() + 1)]
    degree = np.zeros(n, int)
    for level in range(worth.max(), 0, -1):
        fallen = [[] for _ in range(level)]
        for pair in reversed(buckets[level]):
            x, y = u[pair], v[pair]
            joint = np.flatnonzero(wants[x] & wants[y] & (label[x] != label[y]))
            if len(joint) < level:
                fallen[len(joint)].append(pair)
                continue
            degree[[x, y]] += 1
            for t in joint:
                label[label[:, t] == label[y, t], t] = label[x, t]
        for lower in range(1, level):  # a pair that fell is tried where its random key puts it
            merged = buckets[lower] + fallen[lower]
            buckets[lower] = sorted(merged, key=lambda p: -key[p])
    return degree.max()


@pytest.mark.parametrize("n_nodes", [500, 1000])
def test_the_tie_rule_makes_no_hubs(n_nodes):
    indptr, topics = crowd(n_nodes, 100, 10, seed=7)
    ours = np.mean([np.bincount(greedy_links(indptr, topics, 100, seed=seed).ravel()).max() for seed in range(10)])
    rng = np.random.default_rng(0)
    random = np.mean([random_ties_max_degree(indptr, topics, 100, rng) for _ in range(2)])
    assert abs(ours - random) <= 2


@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_kernels_pass_without_the_compiler_and_with_bounds_checked(setting, tmp_path):
    if INNER:
        pytest.skip("this is the inner run")
    chosen = "replays or restrictions or small_cases"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    command += ["-W", "ignore:Cannot cache compiled function"]  # what is not optimised is not cached
    environment = os.environ | {setting: "1", "GREEDY_EXAMPLES": "15", "NUMBA_CACHE_DIR": str(tmp_path)}
    environment["NUMBA_OPT"] = "0"  # a third of the time
    run = subprocess.run(
        [*command, "-k", chosen],
        env=environment,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
