"""A refined overlay keeps its promise, is never worse, and is the same whenever seed and effort are."""

import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import EDGE_CASES, interest_of, interests, sub_overlay, survives
from topicloom.errors import InvalidArgumentError, InvalidOptionError, NotTopicConnectedError
from topicloom.kernels.streams import REFINE_STREAM, stream_key
from topicloom.kernels.swaps.swap_state import ARCS, LINKS, new_swaps, sorted_links, with_more_room
from topicloom.kernels.swaps.swaps import STEPS_OF_VISIT, steps_of, sweep
from topicloom.methods.refinement import Progress
from topicloom.methods.refinement.refine import swap_weights


def components(interest: tl.Interest, links: np.ndarray) -> list[int]:
    import networkx as nx

    return [nx.number_connected_components(sub_overlay(interest, links, t)) for t in range(interest.n_topics)]


def fewest_links(interest: tl.Interest) -> int:
    """By trying all sets of links, fewest first."""
    pairs = list(combinations(range(interest.n_nodes), 2))
    for count in range(len(pairs) + 1):
        if any(survives(interest, chosen, 1) for chosen in combinations(pairs, count)):
            return count
    raise AssertionError("all pairs do")


@settings(max_examples=60, deadline=None)
@given(interests(), st.sampled_from(["gm", "ring-pt", "weighted-gm"]), st.floats(0.1, 30), st.integers(0, 99))
def test_a_refined_overlay_is_topic_connected_and_has_no_more_links(interest, method, effort, seed):
    start = tl.design(interest, method)
    refined = tl.refine(start, effort=effort, seed=seed)
    assert survives(interest, refined.links.tolist(), 1)
    assert refined.n_links <= start.n_links


@settings(max_examples=60, deadline=None)
@given(interests(max_nodes=7), st.integers(0, 99), st.data())
def test_links_of_ones_own_get_no_more_components_in_any_topic(interest, seed, data):
    pairs = list(combinations(range(interest.n_nodes), 2))
    own = data.draw(st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([]))
    start = tl.Overlay.from_links(interest, own)
    refined = tl.refine(start, effort=10, seed=seed)
    before, after = (components(interest, overlay.links) for overlay in (start, refined))
    assert all(now <= then for now, then in zip(after, before))
    assert refined.n_links <= start.n_links


@settings(max_examples=40, deadline=None)
@given(interests(max_nodes=8), st.integers(0, 99))
def test_never_below_the_k_that_it_is_given(interest, seed):
    start = tl.design(interest, k=2)
    refined = tl.refine(start, effort=10, seed=seed)
    assert tl.verify(interest, refined, 2).ok
    assert refined.n_links <= start.n_links
    assert refined.report["refinement"]["k"] == 2


@settings(max_examples=40, deadline=None)
@given(interests(), st.integers(0, 99))
def test_the_objective_degree_raises_neither_the_maximum_degree_nor_the_links(interest, seed):
    start = tl.design(interest, "gm")
    refined = tl.refine(start, effort=10, objective="degree", seed=seed)
    assert refined.verify().ok
    assert refined.degree().max(initial=0) <= start.degree().max(initial=0)
    assert refined.n_links <= start.n_links


@settings(max_examples=25, deadline=None)
@given(interests(max_nodes=5, max_topics=4), st.integers(0, 9))
def test_an_optimal_overlay_keeps_its_links_unless_a_degree_falls(interest, seed):
    refined = tl.refine(tl.design(interest, "gm"), effort=10, seed=seed)
    optimum = fewest_links(interest)
    assert refined.n_links >= optimum
    if refined.n_links == optimum:
        again = tl.refine(refined, effort=10, seed=seed + 1)
        lower = again.degree().max(initial=0) < refined.degree().max(initial=0)
        assert again.n_links == optimum and (lower or again.links.tolist() == refined.links.tolist())


@pytest.mark.parametrize("options", [{}, {"objective": "degree"}, {"shorten": 0.1}, {"k": 2}], ids=str)
def test_seed_and_effort_decide_the_links(options):
    interest = tl.generate(nodes=150, topics=30, subscriptions=6, popularity="zipf", seed=3)
    start = tl.design(interest, k=options.get("k", 1))
    first, again, other = (tl.refine(start, effort=5, seed=seed, **options) for seed in (1, 1, 2))
    assert np.array_equal(first.links, again.links)
    assert not np.array_equal(first.links, other.links)
    assert first.report == again.report


def test_fewer_links_than_any_trimming_leaves():
    interest = tl.generate(nodes=200, topics=40, subscriptions=8, popularity="zipf", seed=1)
    start = tl.greedy_merge(interest)
    refined = tl.refine(start, effort=50)
    assert refined.n_links < 0.9 * len(tl.drop_redundant_links(interest, start))
    assert refined.verify().ok


def test_the_objective_degree_lowers_what_greedy_left():
    interest = tl.generate(nodes=200, topics=40, subscriptions=8, popularity="zipf", seed=1)
    start = tl.greedy_merge(interest)
    refined = tl.refine(start, effort=50, objective="degree")
    assert refined.degree().max() < start.degree().max()


def test_candidates_come_from_the_smallest_side_that_was_cut_off():
    """Links of six seeds, within 0.2 % of those measured; with candidates from the largest side they are 0.6 % more."""
    found = 0
    for seed in range(6):
        interest = tl.generate(400, 30, 8, "zipf", alpha=1.0, seed=seed)
        found += tl.refine(tl.weighted_greedy_merge(interest), effort=40, seed=seed).n_links
    assert 3_500 < found <= 3_605


def test_two_connected_overlays_get_fewer_links():
    start = tl.design(tl.generate(nodes=100, topics=20, subscriptions=6, popularity="zipf", seed=1), k=2)
    refined = tl.refine(start, effort=20)
    assert refined.n_links < start.n_links
    assert refined.verify(2).ok


def test_a_substitute_that_does_not_keep_every_topic_two_connected_is_refused():
    start = tl.design(tl.generate(nodes=40, topics=5, subscriptions=3, popularity="zipf", seed=2), k=2)
    assert all(tl.refine(start, effort=8, seed=seed).verify(2).ok for seed in range(3))


def test_a_price_on_distance_shortens_topics():
    interest = tl.generate(nodes=300, topics=30, subscriptions=8, popularity="exponential", seed=1)
    start = tl.weighted_greedy_merge(interest)
    near, far = (tl.refine(start, effort=60, shorten=price).measure() for price in (0.2, 0))
    assert near.mean_topic_diameter < far.mean_topic_diameter


@pytest.mark.parametrize("name", EDGE_CASES)
def test_interests_with_nothing_to_refine(name):
    interest = EDGE_CASES[name]
    for start in (tl.design(interest, "gm"), tl.Overlay(interest, np.empty((0, 2), np.int32))):
        assert tl.refine(start, effort=10).n_links == start.n_links


def test_links_that_serve_nobody_go():
    interest = interest_of([{0}, {0}, {1}], 2)
    assert tl.refine(tl.Overlay.from_links(interest, [(0, 1), (1, 2)])).links.tolist() == [[0, 1]]


def test_interrupted_it_returns_the_best_so_far_whole():
    start = tl.greedy_merge(tl.generate(nodes=200, topics=40, subscriptions=8, popularity="zipf", seed=1))
    seen: list[Progress] = []

    def stop(at: Progress) -> None:
        seen.append(at)
        if at.links < start.n_links - 5:
            raise KeyboardInterrupt

    refined = tl.refine(start, effort=50, progress=stop)
    assert refined.verify().ok
    assert refined.n_links == seen[-1].links < start.n_links
    assert refined.report["refinement"]["stopped"]
    assert seen[-1].spent < 50


def test_ctrl_c_while_the_result_is_judged_loses_nothing(monkeypatch):
    start = tl.greedy_merge(tl.generate(nodes=200, topics=40, subscriptions=8, popularity="zipf", seed=1))
    judged = []

    def interrupted(*arguments):
        judged.append(arguments)
        if len(judged) == 2:
            raise KeyboardInterrupt
        return tl.verify(*arguments)

    monkeypatch.setattr(sys.modules["topicloom.methods.refinement.refine"], "verify", interrupted)
    refined = tl.refine(start, effort=20)
    assert len(judged) == 3 and refined.n_links < start.n_links
    assert refined.report["refinement"]["stopped"]


@pytest.mark.parametrize("where", ["_keep", "_sweep"])
def test_interrupted_between_any_two_lines_links_and_curve_agree(monkeypatch, where):
    start = tl.greedy_merge(tl.generate(nodes=200, topics=40, subscriptions=8, popularity="zipf", seed=1))
    run = sys.modules["topicloom.methods.refinement.refine"]._Run
    done, calls = getattr(run, where), []

    def interrupted(self, *arguments):
        done(self, *arguments)
        calls.append(where)
        if len(calls) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, where, interrupted)
    refined = tl.refine(start, effort=50)
    assert refined.verify().ok and refined.report["refinement"]["stopped"]
    assert refined.report["refinement"]["curve"][-1][1] == refined.n_links < start.n_links


def test_the_curve_never_rises_and_ends_at_the_result():
    start = tl.greedy_merge(tl.generate(nodes=200, topics=40, subscriptions=8, seed=1))
    refined = tl.refine(start, effort=20)
    efforts, links, _ = zip(*refined.report["refinement"]["curve"])
    assert list(efforts) == sorted(efforts)
    assert list(links) == sorted(links, reverse=True)
    assert (links[0], links[-1]) == (start.n_links, refined.n_links)


def test_a_sweep_without_room_for_arcs_stops_and_goes_on_with_more():
    interest = tl.generate(nodes=80, topics=12, subscriptions=4, seed=1)
    swaps = new_swaps(interest, tl.design(interest, "gm").links, swap_weights)
    key, upto = np.uint64(stream_key(np.int64(1), REFINE_STREAM)), 200 * STEPS_OF_VISIT
    room = int(swaps.counters[ARCS]) + 2 * 4 - 1  # one less than a visit may need
    arcs = {name: getattr(swaps, name)[:room] for name in ("head", "after", "before", "in_tree")}
    tight = swaps._replace(**arcs)
    assert sweep(tight, upto, 500, 1000, 0, key)
    assert steps_of(tight.counters) == 0
    roomy = with_more_room(tight)
    while sweep(roomy, upto, 500, 1000, 0, key):
        roomy = with_more_room(roomy)
    assert steps_of(roomy.counters) >= upto
    m = roomy.counters[LINKS]
    assert tl.verify(interest, sorted_links(roomy.end_u[:m], roomy.end_v[:m])).ok


@pytest.mark.parametrize(
    "options",
    [{"effort": 0}, {"effort": float("nan")}, {"effort": True}, {"objective": "beauty"}, {"shorten": -1}, {"k": 0}],
    ids=str,
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(InvalidOptionError, match="accepted"):
        tl.refine(tl.design(tl.datasets.example()), **options)


def test_what_is_not_k_connected_is_refused_with_the_topic():
    with pytest.raises(NotTopicConnectedError, match="is not 2-connected, the first of"):
        tl.refine(tl.design(tl.datasets.example()), k=2)


def test_links_without_an_interest_are_refused():
    with pytest.raises(InvalidArgumentError, match="Overlay"):
        tl.refine([(0, 1)])
