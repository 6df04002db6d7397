"""Generated interests have the sizes, the popularity and the labels that were asked for."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from topicloom.datasets.tables import popularity_weights
from topicloom.datasets.workload import Workload
from topicloom_papers.cells.inputs import sizes_from_least


def shares(interest):
    return np.diff(interest.topic_indptr) / interest.n_nodes


@settings(max_examples=60, deadline=None)
@given(
    nodes=st.integers(0, 40),
    topics=st.integers(1, 50),
    popularity=st.sampled_from(["uniform", "zipf", "exponential"]),
    sizes=st.sampled_from(["fixed", "mean", "power-law"]),
    data=st.data(),
)
def test_every_generated_interest_is_a_sound_interest(nodes, topics, popularity, sizes, data):
    wanted = data.draw(st.integers(1, topics))
    seed = data.draw(st.integers(0, 2**63 - 1))
    interest = tl.generate(nodes, topics, wanted, popularity, sizes=sizes, alpha=1.3, seed=seed)
    rebuilt = tl.Interest.from_csr(interest.indptr, interest.topics, topics)
    assert rebuilt.topics.tolist() == interest.topics.tolist()
    assert (interest.n_nodes, interest.n_topics) == (nodes, topics)
    assert interest.node_labels.tolist() == sorted(set(interest.node_labels.tolist()))
    assert interest.topic_labels.tolist() == sorted(set(interest.topic_labels.tolist()))
    assert not (interest.indptr.flags.writeable or interest.topics.flags.writeable)
    if sizes == "fixed":
        assert (np.diff(interest.indptr) == wanted).all()
    if sizes == "power-law":
        assert (np.diff(interest.indptr) >= min(10, topics)).all()


def test_no_nodes_give_an_empty_interest():
    interest = tl.generate(nodes=0)
    assert (interest.n_nodes, interest.n_topics, interest.n_subscriptions) == (0, 100, 0)
    assert interest.node_labels.tolist() == []


def test_wanting_every_topic_is_possible_under_any_popularity():
    for popularity in ("uniform", "zipf", "exponential"):
        for sizes in ("fixed", "mean"):
            interest = tl.generate(20, 60, 60, popularity, sizes=sizes, alpha=9.0)
            assert (np.diff(interest.indptr) == 60).all()


def test_the_seed_decides_and_more_nodes_only_add():
    options = {"topics": 50, "subscriptions": 5, "popularity": "zipf", "alpha": 0.5}
    first, same = tl.generate(100, **options, seed=3), tl.generate(100, **options, seed=3)
    other, larger = tl.generate(100, **options, seed=4), tl.generate(200, **options, seed=3)
    assert first.topics.tolist() == same.topics.tolist() == larger.topics[:500].tolist()
    assert first.topics.tolist() != other.topics.tolist()


@pytest.mark.parametrize("popularity", ["uniform", "zipf", "exponential"])
def test_mean_sizes_have_that_mean_and_those_frequencies(popularity):
    nodes, topics, wanted = 20_000, 100, 20
    interest = tl.generate(nodes, topics, wanted, popularity, sizes="mean", alpha=2.0, seed=11)
    weights = popularity_weights(Workload(nodes, topics, wanted, popularity)).astype(float)
    low, high = 0.0, 1e6 / weights.min()
    for _ in range(200):
        factor = (low + high) / 2
        low, high = (factor, high) if np.minimum(1, factor * weights).sum() < wanted else (low, factor)
    expected = np.minimum(1, low * weights)
    assert interest.n_subscriptions / nodes == pytest.approx(wanted, abs=0.15)
    spread = np.sqrt(expected * (1 - expected) / nodes)
    assert (np.abs(shares(interest) - expected) < 5 * spread + 1e-6).all()
    if popularity == "uniform":
        assert np.diff(interest.indptr).var() == pytest.approx(topics * 0.2 * 0.8, rel=0.05)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_one_draw_per_node_follows_zipf_by_chi_square(alpha):
    nodes, topics = 50_000, 30
    interest = tl.generate(nodes, topics, 1, "zipf", alpha=alpha, seed=12)
    expected = np.arange(1, topics + 1) ** -alpha
    expected *= nodes / expected.sum()
    chi_square = ((np.diff(interest.topic_indptr) - expected) ** 2 / expected).sum()
    assert chi_square < 70  # 29 degrees of freedom: exceeded with probability 3e-5


def test_one_draw_per_node_has_55_percent_on_the_top_tenth():
    interest = tl.generate(50_000, 200, 1, "exponential", seed=13)
    assert shares(interest)[:20].sum() == pytest.approx(0.55, abs=0.01)


@pytest.mark.parametrize(("rate", "share"), [(18.0, 0.835), (3, 0.273), (0, 0.1)])
def test_the_rate_of_the_exponential_decides_the_share_of_the_top_tenth(rate, share):
    options = {"nodes": 20_000, "topics": 200, "subscriptions": 1, "popularity": "exponential", "rate": rate}
    interest = tl.generate(**options, seed=13)
    assert shares(interest)[:20].sum() == pytest.approx(share, abs=0.015)
    expected = np.exp(-rate * np.arange(200) / 200)
    expected /= expected.sum()
    assert np.abs(shares(interest) - expected).max() < 5 * np.sqrt(expected.max() / 20_000)


def test_several_distinct_draws_have_the_frequencies_of_rejecting_repeats():
    nodes, wanted = 20_000, 4
    weights = np.arange(1, 13) ** -1.0
    weights /= weights.sum()
    rng = np.random.default_rng(14)
    rejected = np.zeros(12)
    for _ in range(nodes):
        has = set()
        while len(has) < wanted:
            has.add(int(np.searchsorted(np.cumsum(weights), rng.random())))
        rejected[list(has)] += 1
    drawn = shares(tl.generate(nodes, 12, wanted, "zipf", alpha=1.0, seed=15))
    assert np.abs(drawn - rejected / nodes).max() < 0.025  # five times the spread of the difference


def test_power_law_sizes_fall_by_the_power():
    nodes = 50_000
    sizes = np.diff(tl.generate(nodes, 200, sizes="power-law", min_size=10, max_size=90, seed=16).indptr)
    expected = np.arange(10, 91) ** -2.0
    expected *= nodes / expected.sum()
    counts = np.bincount(sizes, minlength=91)[10:]
    assert counts.sum() == nodes
    assert ((counts - expected) ** 2 / expected).sum() < 140  # 80 degrees of freedom: exceeded with p 4e-5
    assert sizes.mean() == pytest.approx(24, abs=0.5)
    flat = np.diff(tl.generate(5000, 200, sizes="power-law", size_exponent=0, seed=1).indptr)
    assert flat.mean() == pytest.approx(50, abs=2)


def test_shifted_sizes_are_the_law_of_the_churn_studies():
    nodes = 50_000
    sizes = np.diff(tl.generate(nodes, 200, sizes="power-law", size_shift=9, seed=16).indptr)
    studies = np.diff(sizes_from_least(nodes, 200, least=10, most=90, exponent=2.0, seed=1).indptr)
    expected = np.arange(1, 82) ** -2.0
    expected *= nodes / expected.sum()
    for drawn in (sizes, studies):
        counts = np.bincount(drawn, minlength=91)[10:]
        assert counts.sum() == nodes
        assert ((counts - expected) ** 2 / expected).sum() < 140  # 80 degrees of freedom, as above
    assert sizes.mean() == pytest.approx(12.05, abs=0.1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rate": 18.0}, "rate is for popularity='exponential' only, and popularity is 'uniform'"),
        ({"rate": -1, "popularity": "exponential"}, "rate is -1; a finite number from 0 up is accepted"),
        ({"size_shift": 9}, "size_shift is for sizes='power-law' only, and sizes is 'fixed'"),
        ({"size_shift": 10, "sizes": "power-law"}, "size_shift is 10; it has to be below min_size, which is 10"),
        ({"size_shift": 0.5, "sizes": "power-law"}, "size_shift is 0.5"),
    ],
)
def test_a_rate_or_a_shift_that_means_nothing_is_refused(options, sentence):
    with pytest.raises(tl.TopicloomError, match=sentence):
        tl.generate(topics=200, **options)


def test_topics_of_different_nodes_are_not_correlated():
    interest = tl.generate(4000, 100, 20, seed=17)
    wants = np.zeros((4000, 100))
    wants[interest.nodes, interest.topics] = 1
    neighbours = (wants[:-1] * wants[1:]).sum(axis=1)
    assert neighbours.mean() == pytest.approx(4, abs=0.15)
    assert neighbours.var() == pytest.approx(20 * 0.2 * 0.8 * 80 / 99, rel=0.15)


GOLDEN = {
    ("uniform", "fixed"): "6028dc14399e62f2",
    ("uniform", "mean"): "5358d0eca0977d73",
    ("uniform", "power-law"): "791b710469aefa49",
    ("zipf", "fixed"): "036c8b99e9aa8bfe",
    ("zipf", "mean"): "151dc12129ec5755",
    ("zipf", "power-law"): "0e2a8e1278e75be6",
    ("exponential", "fixed"): "ec5d679890cfcf81",
    ("exponential", "mean"): "88d9bf0da55b4de3",
    ("exponential", "power-law"): "8ba1402d6363fbfd",
}


@pytest.mark.parametrize(("popularity", "sizes"), GOLDEN)
def test_the_stream_is_the_one_of_earlier_versions(popularity, sizes):
    """A published workload is named by its options and seed: a change here breaks everyone's."""
    interest = tl.generate(500, 150, 20, popularity, sizes=sizes, alpha=0.8, seed=2024)
    arrays = interest.indptr.astype("<i8").tobytes() + interest.topics.astype("<i4").tobytes()
    assert hashlib.sha256(arrays).hexdigest()[:16] == GOLDEN[popularity, sizes]


def test_first_subscriptions_are_known():
    interest = tl.generate(3, 100, 5, "zipf", alpha=2.0, seed=0)
    assert [interest.topics_of(v).tolist() for v in range(3)] == [
        [0, 1, 8, 16, 19],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 3, 8],
    ]


def test_labels_of_many():
    interest = tl.generate(1001, 1000, 1)
    assert [str(interest.node_labels[v]) for v in (0, 1000)] == ["n0000", "n1000"]
    assert [str(interest.topic_labels[t]) for t in (0, 17, 999)] == ["t000", "t017", "t999"]


def test_generating_in_memory_imports_no_spark():
    script = "import sys, topicloom as tl; tl.generate(3); assert 'pyspark' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
