"""The instances of docs/errata.md that the tests of counterexamples and fixed instances do not have.

Names of tests begin with the erratum's number, in all three files.
"""

import re
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import topicloom as tl
from support.diameter_two_cases import lemma_1, lemma_6
from support.paper_instances import pairs_and_v_all, plane_with_lines
from support.small_interests import interest_of, one_topic
from topicloom.measures import measure_topics


def test_every_erratum_has_its_test():
    here = Path(__file__)
    numbers = re.findall(r"^### (\S+)$", (here.parents[2] / "docs" / "errata.md").read_text("utf-8"), re.MULTILINE)
    files = (here, *(here.with_name(f"test_{name}.py") for name in ("counterexamples", "fixed_instances")))
    tests = re.findall(r"^def test_((?:gm|lo|dc|k|s)_[0-9]+)_", "\n".join(map(Path.read_text, files)), re.MULTILINE)
    assert sorted({test.replace("_", "-").upper() for test in tests}) == sorted(numbers)


def test_gm_2_a_sub_overlay_of_greedy_merge_may_have_a_cycle():
    interest = interest_of([{0, 1, 2}, {0, 1, 3}, {0, 2, 3}], 4)
    overlay = tl.greedy_merge(interest)
    topics = measure_topics(interest, overlay.links)
    assert overlay.n_links == 3
    assert (topics.subscribers[0], topics.links[0]) == (3, 3)  # a forest would have two


def test_gm_4_the_reduction_asks_for_fewer_links_than_a_tree_has():
    """SN-TCO on three nodes with one topic and d = 3 becomes five nodes, which three links do not connect."""
    for links in nx.trivial_graph(), nx.path_graph(4), nx.star_graph(3):
        assert not tl.verify(one_topic(5), list(links.edges)).ok
    assert tl.greedy_merge(one_topic(5)).n_links == 4
    assert tl.verify(one_topic(3), [(0, 1), (1, 2)]).ok


def test_gm_6_rings_in_one_order_share_their_links():
    alike = interest_of([{0, 1}] * 4, 2)
    assert tl.design(alike, "ring-pt").degree().tolist() == [2] * 4  # twice the subscription size would be 4
    drawn = [tl.generate(nodes=1000, topics=100, subscriptions=s, popularity="zipf", alpha=0.5) for s in (10, 20)]
    for method, low, high in (("ring-pt", 1.0, 1.5), ("cycle-pt", 1.7, 2.1)):
        few, many = (tl.design(interest, method).n_links for interest in drawn)
        assert low < many / few < high


def test_lo_1_cd_oda_2_reaches_the_optimum_of_lemma_6():
    interest = lemma_6(3)
    for seed in range(5):
        assert tl.design(interest, "cd-oda-1", seed=seed).n_links == 6
        assert tl.design(interest, "cd-oda-2", seed=seed).n_links == 5


def test_lo_2_the_factors_of_the_experiments_do_not_come_out():
    interest = tl.generate(nodes=100, topics=100, subscriptions=10, seed=1)
    gm, cd_oda_2, two_d_oda = (tl.design(interest, method).n_links for method in ("gm", "cd-oda-2", "2d-oda"))
    assert two_d_oda > 1.5 * gm  # published: at most 1.09
    assert cd_oda_2 < 1.1 * two_d_oda  # published: 2.04


def test_lo_3_minmax_oda_need_not_take_all_matchings():
    overlay = tl.minmax_oda(lemma_1(8))
    assert 7 < overlay.n_links < 8 * 6 // 2


@pytest.mark.parametrize("seed", range(5))
def test_lo_4_rho_1_spares_the_maximum_degree_among_equal_links(seed):
    """With "greater" for "greater or equal", any of the three next links would do, and a star may arise."""
    assert tl.low_oda(one_topic(4), rho=1, seed=seed).degree().max() == 2


def test_dc_2_a_star_set_of_topics_that_one_node_each_wants_holds_them_all():
    n = 40
    many = tl.Interest.from_pairs([f"node-{v}" for v in range(n)], [f"topic-{v}" for v in range(n)])
    one = tl.Interest.from_pairs(["all"] * n, [f"topic-{v}" for v in range(n)])
    report = tl.join([(many, []), (one, [])]).report
    assert [site["stars"] for site in report["overlays"]] == [n, 1]
    assert n > 2 * np.log(n * n)


def test_dc_3_the_degree_of_dc_is_too_steady_for_both_table_1_and_figure_8():
    points, mean, first = 5, 6.97, 6.50
    assert (points * mean - first) / (points - 1) / first > 1.09
    degrees_at = {}
    for nodes in (1000, 2000):
        drawn = [tl.generate(nodes=nodes, topics=100, subscriptions=20, seed=seed) for seed in range(2)]
        runs = [tl.divide_and_conquer(one, partitions=nodes // 100, seed=seed) for seed, one in enumerate(drawn)]
        degrees_at[nodes] = np.mean([run.degree().mean() for run in runs])
    assert degrees_at[2000] / degrees_at[1000] == pytest.approx(1, abs=0.02)
    assert degrees_at[1000] == pytest.approx(mean, rel=0.02) and degrees_at[1000] > 1.05 * first


def first_ear(links):
    """Number of links of the cycle that is closed first, and the links added until then."""
    graph = nx.Graph()
    for count, (u, v) in enumerate(links, 1):
        if u in graph and v in graph and nx.has_path(graph, u, v):
            return nx.shortest_path_length(graph, u, v) + 1, count
        graph.add_edge(u, v)
    raise AssertionError("no cycle")


def test_k_1_the_contribution_of_a_link_depends_on_what_follows():
    """The first link of two sequences that end 2-topic-connected; links of an ear of length n give (n - 1) / n."""
    triangle = [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3)]
    ring = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert tl.verify(one_topic(4), triangle, k=2).ok and tl.verify(one_topic(4), ring, k=2).ok
    contributions = [Fraction(length - 1, length) for length, _ in map(first_ear, (triangle, ring))]
    assert contributions == [Fraction(2, 3), Fraction(3, 4)]
    low, high = contributions
    assert low < high <= 2 * low  # the left inequality fails one way round, the right one holds both ways


def test_k_2_the_last_step_of_theorem_a_2_loses_a_factor():
    """A path of four nodes, C log n = 2."""
    n, factor = 4, 2
    m = tl.greedy_merge(one_topic(n)).n_links
    assert (m + n) * factor - n == m * factor + n * (factor - 1) == 10
    assert m * factor - (n - factor) == 4


def test_k_3_no_number_of_links_satisfies_equation_52():
    """Three nodes with one topic: eq. (16) holds at every link, eq. (52) for none once x is negative."""
    start, end, best = 3, 1, 3
    phi = [Fraction(start) - Fraction(2, 3) * links for links in range(4)]
    x = [value - Fraction(start + end, 2) for value in phi]
    assert x == [1, Fraction(1, 3), Fraction(-1, 3), -1]
    shrink = 1 - Fraction(1, best)
    assert all(after <= shrink * before for before, after in pairwise(x))
    assert Fraction(-1, 4) <= shrink * x[2]  # eq. (16) would allow |x| to become smaller
    assert not any(abs(x[2]) * shrink**links >= Fraction(start - end, 2) for links in range(1000))


def blocks_of(interest, links, t):
    """Blocks of a topic's sub-overlay, each lone node one, as sets of nodes."""
    graph = nx.Graph()
    graph.add_nodes_from(interest.subscribers(t).tolist())
    graph.add_edges_from((u, v) for u, v in links if u in graph and v in graph)
    blocks = list(map(frozenset, nx.biconnected_components(graph)))
    return [*blocks, *(frozenset([v]) for v in graph if not any(v in block for block in blocks))]


def helped(interest, links, u, v):
    """Topics in which no block contains both ends of a link."""
    both = set(interest.topics_of(u).tolist()) & set(interest.topics_of(v).tolist())
    return {t for t in both if not any({u, v} <= block for block in blocks_of(interest, links, t))}


@pytest.mark.parametrize("seed", range(12))
def test_k_3_the_steps_of_our_bound(seed):
    """A topic takes at most 2n - 3 links that help it, and each link helps its share of the unfinished topics."""
    interest = tl.generate(nodes=9, topics=5, subscriptions=3, seed=seed)
    other = min(tl.design(interest, name, seed=seed).n_links for name in ("cycle-pt", "stacked-gm"))
    taken = dict.fromkeys(range(interest.n_topics), 0)
    links = []
    for u, v in tl.gm2(interest, seed=seed).links.tolist():
        unfinished = sum(len(blocks_of(interest, links, t)) > 1 for t in taken)
        topics = helped(interest, links, u, v)
        assert len(topics) >= unfinished / other
        for t in topics:
            taken[t] += 1
        links.append((u, v))
    sizes = np.diff(interest.topic_indptr)
    assert all(taken[t] <= max(2 * sizes[t] - 3, 0) for t in taken)


def degrees(overlay):
    return overlay.degree().max(), overlay.degree().mean()


@pytest.mark.parametrize("q", [3, 5, 7, 11])
def test_s_1_degrees_grow_without_limit_though_every_round_changes_the_optimum_little(q):
    """The node of each line leaves and comes back. Its leave forces links between all pairs, which stay."""
    interest, stars = plane_with_lines(q)
    optimum = tl.Overlay.from_links(interest, stars)
    assert optimum.verify().ok and optimum.n_links == q * (q * q + q)
    maintainer = tl.Maintainer(interest, tl.low_oda(interest))
    assert maintainer.overlay.n_links == optimum.n_links
    for number in range(q * q + q):
        wanted = [str(topic) for topic in maintainer.interest.topics_of(f"line {number}")]
        maintainer.leave(f"line {number}")
        maintainer.join(f"line {number}", wanted)
    assert maintainer.overlay.verify().ok
    ratio = maintainer.overlay.n_links / optimum.n_links
    assert ratio == pytest.approx((q - 1) * (q + 2) / (2 * q))  # where the lemma has a logarithm


@pytest.mark.parametrize("q", [2, 3, 5])
def test_s_1_equations_3_to_6_hold_in_every_round_with_the_constant_2(q):
    """Rounds are alike, up to the line: with all nodes, and with one line's node gone. Bounds prove both optima."""
    interest, stars = plane_with_lines(q)
    whole = tl.Overlay.from_links(interest, stars)
    gone, line = [v for v in range(interest.n_nodes) if interest.node_label(v) != "line 0"], {"line 0"}
    points = [one for one, other in stars if other == "line 0"]
    left = [link for link in stars if not set(link) & line]
    without = tl.Overlay.from_links(interest.restrict(gone), [*left, *combinations(points, 2)])
    for overlay in (whole, without):
        assert overlay.verify().ok and tl.lower_bound(overlay.interest).links == overlay.n_links
    assert degrees(whole)[0] == q + 1  # the lowest possible: a link on each line of a point
    for one, other in zip(degrees(whole), degrees(without), strict=True):
        assert max(one / other, other / one) < 2  # (3) and (4), both ways
    maintainer = tl.Maintainer(interest, whole)
    before = {tuple(sorted(link)) for link in stars}
    added = {tuple(sorted(pair)) for pair in maintainer.leave("line 0").added}
    assert added == {tuple(sorted(pair)) for pair in combinations(points, 2)} and not added & before
    assert q - 1 <= min(degrees(whole) + degrees(without))  # (5) and (6) of the leave: its shadows, a clique
    maintainer.join("line 0", [str(topic) for topic in interest.topics_of("line 0")])
    shadows = set(maintainer.backups_of("line 0"))
    assert shadows <= set(points) and len(shadows) < degrees(whole)[0]  # and of the join, whose shadows take a star


@pytest.mark.parametrize("n", [4, 10, 30])
def test_s_4_a_newcomer_may_lower_the_optimum_and_not_the_overlay(n):
    """Star-merge §IV: (3) and (4) hold as printed, and with λ = 3 everybody is a shadow, so that (5) and (6) do."""
    interest, star = pairs_and_v_all(n)
    overlay = tl.greedy_merge(interest.restrict(range(n)))
    maintainer = tl.Maintainer(overlay.interest, overlay)
    maintainer.join("all", [str(topic) for topic in range(interest.n_topics)])
    assert len(maintainer.backups_of("all")) == n
    assert overlay.degree().mean() == n - 1 > 2 * len(star) / (n + 1)  # the optimum falls
    assert maintainer.overlay.n_links == n * (n - 1) // 2 + n - 1


def test_s_2_the_lowest_maximum_degree_is_not_the_lowest_average_degree():
    interest = tl.Interest.from_pairs(["h", "h", "a", "b"], ["x", "y", "x", "y"])
    degree = tl.greedy_merge(interest).degree()  # both links are forced
    assert degree.max() == 2 and degree.mean() == pytest.approx(4 / 3)


def printed_backups(v, wants, neighbours, backups, primaries):
    """Algorithm 11 with coverage 1, line by line; ties by name."""
    backups[v] = set()
    rest = set(wants[v])
    while rest:
        candidates = [u for u in wants if u != v and u not in backups[v] and wants[u] & rest]
        if not candidates:
            break
        ratio = {u: Fraction(neighbours[u] + len(primaries[u]), len(wants[u] & rest)) for u in candidates}
        w = min(sorted(candidates), key=ratio.__getitem__)
        backups[v].add(w)
        primaries[w].add(v)
        rest -= wants[w]


def test_s_3_backups_as_printed_leave_stale_primaries():
    wants = {"v": {"x", "y"}, "a": {"x"}, "c": {"y"}, "d": {"x", "y"}}
    backups, primaries = {u: set() for u in wants}, {u: set() for u in wants}
    printed_backups("v", wants, {"v": 2, "a": 1, "c": 1, "d": 9}, backups, primaries)
    assert backups["v"] == {"a", "c"}
    del wants["c"]
    printed_backups("v", wants, {"v": 1, "a": 1, "d": 1}, backups, primaries)
    assert backups["v"] == {"d"}
    assert primaries["a"] == {"v"}  # stale: a backs up nobody


@pytest.mark.parametrize("builder", ["greedy", "primal-dual"])
def test_s_3_ours_mirror_backups_exactly(builder):
    drawn = tl.generate(nodes=40, topics=12, subscriptions=4, seed=3)
    interest = tl.Interest.from_pairs([f"n{v:02}" for v in drawn.nodes], [f"t{t:02}" for t in drawn.topics])
    maintainer = tl.Maintainer(interest, tl.low_oda(interest), backups=builder, coverage=2, seed=1)
    for label in list(interest.node_labels)[:10]:
        maintainer.leave(str(label))
        names = [str(name) for name in maintainer.interest.node_labels]
        pairs = {(v, u) for v in names for u in maintainer.backups_of(v)}
        assert pairs == {(v, u) for u in names for v in maintainer.primaries_of(u)}


def test_s_5_primaries_are_as_many_as_backups():
    drawn = tl.generate(nodes=60, topics=12, subscriptions=4, seed=3)
    interest = tl.Interest.from_pairs([f"n{v:02}" for v in drawn.nodes], [f"t{t:02}" for t in drawn.topics])
    maintainer = tl.Maintainer(interest, tl.low_oda(interest), seed=1)
    counts = [(len(maintainer.backups_of(name)), len(maintainer.primaries_of(name))) for name in interest.node_labels]
    assert sum(backups for backups, _ in counts) == sum(primaries for _, primaries in counts) > 0
    fewest, most, mean = 21, 59, Fraction(28, 1000) * 2000
    middle = Fraction(fewest + most, 2)
    in_upper_half = (mean - middle) / (most - middle)  # at least, were the others at the middle and these at the most
    assert mean == 56 and in_upper_half > Fraction(5, 6)


def test_s_6_shadows_that_others_connect_need_no_link_between_them():
    interest = tl.Interest.from_pairs(["b", "c", "d"], ["t"] * 3)
    path = tl.Overlay(interest, [(0, 1), (1, 2)])
    maintainer = tl.Maintainer(interest, path, coverage=2)
    added = maintainer.join("v", ["t"]).added
    assert set(maintainer.backups_of("v")) == {"b", "d"}
    inside = nx.Graph([(u, v) for u, v in maintainer.overlay.to_networkx().edges if "c" not in (u, v)])
    inside.add_nodes_from(["b", "d", "v"])
    assert len(added) == 1 and nx.number_connected_components(inside) == 2  # word for word: one more link
    assert maintainer.overlay.verify().ok
