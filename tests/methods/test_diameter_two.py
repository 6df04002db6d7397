"""CD-ODA, CD-ODA-I, CD-ODA-II and 2D-ODA: against slow twins, the judge, and the paper's fixed cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.diameter_two_cases import case_vii, lemma_1, lemma_5, lemma_6
from support.star_twins import around_nodes, twin
from topicloom.kernels.covers.node_stars import DENSITY, NEIGHBOURS, WEIGHTED, node_stars

FAMILY = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda")
RULES = {"cd-oda": NEIGHBOURS, "cd-oda-1": WEIGHTED, "cd-oda-2": DENSITY}


@st.composite
def interests(draw: st.DrawFn) -> tl.Interest:
    n, n_topics = draw(st.integers(0, 10)), draw(st.integers(1, 7))
    rows = draw(st.lists(st.sets(st.integers(0, n_topics - 1)), min_size=n, max_size=n))
    indptr = np.cumsum([0, *map(len, rows)])
    return tl.Interest.from_csr(indptr, [t for row in rows for t in sorted(row)] or np.empty(0, int), n_topics)


def as_pairs(overlay: tl.Overlay) -> list[tuple[int, int]]:
    return [(u, v) for u, v in overlay.links.tolist()]


@pytest.mark.parametrize("method", FAMILY)
@settings(max_examples=250, deadline=None)
@given(interest=interests(), seed=st.integers(0, 3))
def test_every_star_is_the_one_that_counting_from_scratch_gives(interest: tl.Interest, method: str, seed: int) -> None:
    assert as_pairs(tl.design(interest, method, seed=seed)) == twin(interest, method, seed)


@pytest.mark.parametrize("method", FAMILY)
@pytest.mark.parametrize("seed", range(3))
def test_twins_agree_where_bounds_matter(method: str, seed: int) -> None:
    interest = tl.generate(nodes=40, topics=15, subscriptions=4, popularity="zipf", alpha=0.5, seed=seed)
    assert as_pairs(tl.design(interest, method, seed=seed)) == twin(interest, method, seed)


@pytest.mark.parametrize("method", FAMILY)
@pytest.mark.parametrize("popularity", ["uniform", "zipf", "exponential"])
def test_topic_connected_with_diameter_two(method: str, popularity: str) -> None:
    interest = tl.generate(nodes=400, topics=60, subscriptions=6, popularity=popularity, seed=5)
    overlay = tl.design(interest, method, seed=2)
    assert tl.verify(interest, overlay.links).ok
    assert tl.measure(interest, overlay.links).max_topic_diameter == 2
    assert overlay.n_links <= interest.n_subscriptions


@pytest.mark.parametrize("method", FAMILY)
def test_ties_follow_the_seed(method: str) -> None:
    interest = tl.generate(nodes=60, topics=30, subscriptions=4, seed=1)
    links = [tl.design(interest, method, seed=seed).links.tolist() for seed in (0, 0, 1)]
    assert links[0] == links[1] != links[2]


@pytest.mark.parametrize("method", FAMILY)
def test_edge_cases(method: str) -> None:
    assert tl.design(tl.Interest.from_pairs([], []), method).n_links == 0
    assert tl.design(tl.Interest.from_pairs(["a"], ["x"]), method).n_links == 0
    assert tl.design(tl.Interest.from_csr([0, 1, 2, 2], [0, 1], 3), method).n_links == 0
    everything = tl.Interest.from_csr(np.arange(21) * 50, np.tile(np.arange(50), 20), 50)
    assert tl.design(everything, method).n_links == 19
    crowd = tl.Interest.from_csr(np.arange(100_001), np.zeros(100_000, int), 1)
    assert tl.design(crowd, method).n_links == 99_999


@pytest.mark.parametrize("n", [6, 7, 10, 25, 60])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_case_vii(n: int, seed: int) -> None:
    interest = case_vii(n)
    links = {method: tl.design(interest, method, seed=seed).n_links for method in FAMILY}
    assert links == {"cd-oda": 2 * n - 5, "cd-oda-1": 2 * n - 5, "cd-oda-2": 2 * n - 5, "2d-oda": n}


@pytest.mark.parametrize(("n", "links"), [(4, 3), (5, 5)])
def test_case_vii_is_a_tie_below_six_nodes(n: int, links: int) -> None:
    assert {tl.design(case_vii(n), method).n_links for method in FAMILY} == {links}


def stars(interest: tl.Interest, method: str, places: np.ndarray) -> np.ndarray:
    return node_stars(
        interest.indptr,
        interest.topics,
        interest.topic_indptr,
        interest.topic_nodes,
        places.astype(np.int32),
        RULES[method],
    )


@pytest.mark.parametrize("n", [3, 8, 20])
def test_lemma_5_cd_oda_may_build_the_complete_graph(n: int) -> None:
    """On the staircase all nodes are neighbours of all, and the tie order alone decides between worst and best."""
    interest = lemma_5(n)
    worst = stars(interest, "cd-oda", np.arange(n))
    assert [tuple(link) for link in worst.tolist()] == around_nodes(interest, "cd-oda", range(n))
    assert len(worst) == n * (n - 1) // 2
    assert len(stars(interest, "cd-oda", np.arange(n)[::-1])) == n - 1
    for method in ("cd-oda-1", "cd-oda-2", "2d-oda"):
        assert tl.design(interest, method).n_links == n - 1


@pytest.mark.parametrize("n", [3, 5, 7])
def test_lemma_6_holds_for_cd_oda_1_but_not_for_cd_oda_2(n: int) -> None:
    """CD-ODA-I takes v1, v2, …, as the paper says; CD-ODA-II takes u1 first and reaches the optimum, whatever the ties.

    The density of u_i is the size of S_i, over one neighbour; v_i has about that weight too, but n or more
    neighbours. So every u_i comes before every v_i, serves S_i with one link, and then v_n is the densest.
    """
    interest = lemma_6(n)
    for places in (np.arange(2 * n), np.arange(2 * n)[::-1]):
        first = stars(interest, "cd-oda-1", places)
        assert len(first) == n * (n - 1) // 2 + n
        assert len(stars(interest, "cd-oda-2", places)) == 2 * n - 1
    assert tl.design(interest, "2d-oda").n_links == 2 * n - 1


@pytest.mark.parametrize("n", [6, 12, 24, 48])
def test_lemma_1_minmax_oda_needs_quadratically_many_links(n: int) -> None:
    """n(n - 2)/2 by the paper's matchings; with our ties some links near the hub save a third of it, at 0.32 n²."""
    interest = lemma_1(n)
    star = np.column_stack((np.zeros(n - 1, int), np.arange(1, n)))
    assert tl.verify(interest, star).ok
    assert 0.3 * n**2 <= tl.minmax_oda(interest).n_links <= n * (n - 2) / 2
    assert tl.two_diameter_oda(interest).n_links == n - 1
