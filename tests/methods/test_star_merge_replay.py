"""Joining and divide-and-conquer against their definitions, through the public functions alone."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import interest_of, interests
from support.star_merge_replay import (
    Merging,
    is_greedy_merge,
    pn_ratios,
    sparing_star_sets,
    star_sets,
    wants_of,
)
from topicloom.methods.dc.partitioning import divide

AIMS = ("time", "parallel-time", "candidates")


def as_pairs(links):
    return [(int(u), int(v)) for u, v in links]


@st.composite
def sites(draw):
    """Interests of two to four sites, with topics that only one of them has."""
    found = []
    for site in range(draw(st.integers(2, 4))):
        n = draw(st.integers(1, 6))
        shared = st.sets(st.integers(0, 4))
        private = st.sets(st.integers(5 + 4 * site, 8 + 4 * site))
        rows = [draw(shared) | draw(private) for _ in range(n)]
        found.append(interest_of(rows, 21))
    return found


def check_pn_ratios(report, units, stars):
    """The highest ratio, and number, mean and maximum of those of star nodes and of the others."""
    ratios, every_star = pn_ratios(units, stars), set().union(*stars)
    assert report["pn_ratio"] == pytest.approx(float(max(ratios.values())))
    for name, nodes in (("star", every_star), ("other", ratios.keys() - every_star)):
        if not nodes:
            assert name not in report["pn_ratios"]
            continue
        found = report["pn_ratios"][name]
        assert found["nodes"] == len(nodes)
        assert found["mean"] == pytest.approx(float(sum(ratios[v] for v in nodes) / len(nodes)))
        assert found["max"] == pytest.approx(float(max(ratios[v] for v in nodes)))


@settings(max_examples=60)
@given(sites(), st.integers(0, 3))
def test_joining_replayed(parts, seed):
    """M1: star sets cover the topics that others have too, and no more. M5: pn-ratio counts the other star nodes."""
    joined = tl.join([(part, tl.greedy_merge(part)) for part in parts], seed=seed)
    starts = np.cumsum([0, *(part.n_nodes for part in parts)])
    units = [range(start, end) for start, end in itertools.pairwise(starts)]
    stars = star_sets(joined.interest, units, seed)
    assert [site["stars"] for site in joined.report["overlays"]] == [len(one) for one in stars]
    assert is_greedy_merge(joined.interest, stars, as_pairs(joined.links[joined.report["inner_links"] :]))
    check_pn_ratios(joined.report, units, stars)


def test_a_node_with_private_topics_alone_is_no_star():
    here = interest_of([{0, 1}, {5, 6, 7, 8}], 10)
    there = interest_of([{0, 1}, {9}], 10)
    report = tl.join([(here, []), (there, [])]).report
    assert [site["stars"] for site in report["overlays"]] == [1, 1]


@settings(max_examples=60)
@given(interests(max_nodes=12, max_topics=8), st.integers(2, 5), st.integers(0, 3))
def test_divide_and_conquer_replayed(interest, partitions, seed):
    """M2 and M5, for the paper's algorithm: random partitions, no core, one merge."""
    overlay = tl.design(interest, "dc", partitions=partitions, seed=seed)
    if partitions >= interest.n_nodes:
        return
    partition = divide(interest, partitions, "random", seed=seed)
    units = [np.flatnonzero(partition == number).tolist() for number in range(partitions)]
    stars, report = star_sets(interest, units, seed), overlay.report
    sizes = [len(one) for one in stars]
    assert report["star_nodes"] == sum(sizes)
    assert (report["star_set"]["min"], report["star_set"]["max"]) == (min(sizes), max(sizes))
    inner, outer = np.split(overlay.links, [report["inner_links"]])
    by_partition = partition[inner[:, 0]]
    assert (by_partition == partition[inner[:, 1]]).all() and (np.diff(by_partition) >= 0).all()
    for number, unit in enumerate(units):
        assert is_greedy_merge(interest, [[v] for v in unit], as_pairs(inner[by_partition == number]))
    assert is_greedy_merge(interest, stars, as_pairs(outer))
    check_pn_ratios(report, units, stars)


def private_topics():
    """Every node has topics of its own beside some that many want."""
    drawn = tl.generate(nodes=60, topics=12, subscriptions=3, seed=1)
    return interest_of([row | {12 + 2 * v, 13 + 2 * v} for v, row in enumerate(wants_of(drawn))], 132)


def test_private_topics_make_no_star_nodes():
    """M1 and M2 once more, where the difference is large: covering all topics would make every node a star."""
    interest = private_topics()
    report = tl.design(interest, "dc", partitions=4).report
    assert report["star_nodes"] < 40 and report["pn_ratio"] < 1


def trial_counts(n):
    counts = sorted({base * 2**power for base in (2, 3) for power in range(20)})
    return [count for count in counts if count <= n / 4]


def costs(interest, seed):
    """Number of partitions -> (k̃ / k, p, candidates), by dividing at random and computing star sets of eight."""
    found = {}
    for count in trial_counts(interest.n_nodes):
        partition = divide(interest, count, "random", seed=seed)
        units = [np.flatnonzero(partition == number).tolist() for number in range(count)]
        stars = star_sets(interest, units, seed)[:8]
        mean, size = Fraction(sum(map(len, stars)), len(stars)), Fraction(interest.n_nodes, count)
        found[count] = mean / size, count, size + (count - 1) * mean
    return found


RULES = {
    "time": lambda share, count, _: Fraction(1, count) + share**2,
    "parallel-time": lambda share, count, _: Fraction(1, count**2) + share**2,
    "candidates": lambda _, __, candidates: candidates,
}
WRONG = {
    "1/p for 1/p²": ("parallel-time", lambda share, count, _: Fraction(1, count) + share**2),
    "1/p² for 1/p": ("time", lambda share, count, _: Fraction(1, count**2) + share**2),
    "k̃/k for its square": ("time", lambda share, count, _: Fraction(1, count) + share),
    "k̃/k for its square, parallel": ("parallel-time", lambda share, count, _: Fraction(1, count**2) + share),
}
CHOICES = [(240, 30, 5, 1), (200, 100, 3, 2), (300, 12, 4, 3)]


def best(rule, found):
    return min(sorted(found), key=lambda count: rule(*found[count]))


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize(("nodes", "topics", "size", "seed"), CHOICES)
def test_the_number_of_partitions_has_the_least_cost(nodes, topics, size, seed, aim):
    """M3 and M4: §VII's formulas, computed apart."""
    interest = tl.generate(nodes=nodes, topics=topics, subscriptions=size, popularity="zipf", alpha=0.8, seed=seed)
    overlay = tl.design(interest, "dc", partitions="auto", aim=aim, seed=seed)
    assert overlay.report["partitions"] == best(RULES[aim], costs(interest, seed))


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize(
    "options",
    [
        {"division": "similar"}, {"division": "similar", "core": 4}, {"core": 6}, {"inner": "gm2"},
        {"inner": "gm2", "division": "similar", "core": 3},
    ],
)  # fmt: skip
def test_auto_measures_the_division_and_core_that_are_used(aim, options):
    """The designs themselves, made for every number of partitions, report the star sets and cores of the trials."""
    interest = tl.generate(nodes=32, topics=20, subscriptions=3, popularity="zipf", alpha=0.8, seed=4)
    found = {}
    for count in (2, 3, 4, 6, 8):  # all have at most eight partitions, so that trials look at every one
        report = tl.design(interest, "dc", partitions=count, seed=4, **options).report
        core, stars = Fraction(report["core_nodes"]), Fraction(report["star_nodes"], count)
        seen = (32 - core) / count + core
        outer = (count * stars / 32) ** 2
        found[count] = {
            "time": count * (seen / 32) ** 2 + outer,
            "parallel-time": (seen / 32) ** 2 + outer,
            "candidates": seen + (count - 1) * stars,
        }[aim]
    chosen = tl.design(interest, "dc", partitions="auto", aim=aim, seed=4, **options).report["partitions"]
    assert chosen == min(sorted(found), key=found.__getitem__)


@settings(max_examples=60)
@given(interests(max_nodes=12, max_topics=8), st.integers(2, 4), st.sampled_from([1.0, 2.0, 100.0]), st.integers(0, 3))
def test_with_low_oda_merges_spare_the_maximum_degree(interest, partitions, rho, seed):
    """Every outer link is e1 or e2 of Low-ODA's rule over the star nodes, by degrees within and between partitions."""
    if not partitions < interest.n_nodes:
        return
    overlay = tl.design(interest, "dc", partitions=partitions, inner="low-oda", rho=rho, seed=seed)
    partition = divide(interest, partitions, "random", seed=seed)
    inner, outer = np.split(overlay.links, [overlay.report["inner_links"]])
    degree = np.bincount(inner.ravel(), minlength=interest.n_nodes)
    units = [np.flatnonzero(partition == number).tolist() for number in range(partitions)]
    chosen = sparing_star_sets(interest, units, degree, seed)
    assert sum(map(len, chosen)) == overlay.report["star_nodes"]
    unit_of = {v: number for number, unit in enumerate(chosen) for v in unit}
    pairs = [(u, v) for u, v in itertools.combinations(sorted(unit_of), 2) if unit_of[u] != unit_of[v]]
    state = Merging(interest, unit_of)
    for u, v in as_pairs(outer):
        top = max(degree[w] for w in unit_of)
        worth = {pair: state.contribution(*pair) for pair in pairs if state.contribution(*pair)}
        calm = {pair: gain for pair, gain in worth.items() if max(degree[list(pair)]) < top}
        best = max(worth.values())
        rule = calm if calm and max(calm.values()) * rho >= best else worth
        assert worth[u, v] == max(rule.values()) and ((u, v) in rule)
        state.add(u, v)
        degree[[u, v]] += 1
    assert not any(state.contribution(*pair) for pair in pairs)


def test_the_cases_tell_right_formulas_from_wrong_ones():
    """Without this, the test above could pass with a wrong formula."""
    told = set()
    for nodes, topics, size, seed in CHOICES:
        interest = tl.generate(nodes=nodes, topics=topics, subscriptions=size, popularity="zipf", alpha=0.8, seed=seed)
        found = costs(interest, seed)
        told |= {name for name, (aim, rule) in WRONG.items() if best(rule, found) != best(RULES[aim], found)}
    assert told == set(WRONG)


def test_star_nodes_of_merges_in_groups_consider_those_of_their_group_and_then_of_the_next():
    """Who represents a group considers star nodes of other groups, too."""
    interest = tl.generate(nodes=48, topics=10, subscriptions=3, seed=5)
    report = tl.design(interest, "dc", partitions=6, merge_limit=12, core=0, seed=5).report
    first = report["merge_tree"][0]
    assert first["groups"] > 1 and len(report["merge_tree"]) > 1
    partition = divide(interest, 6, "random", seed=5)
    units = [np.flatnonzero(partition == number).tolist() for number in range(6)]
    stars = star_sets(interest, units, 5)
    groups = [[0]]
    for unit in range(1, 6):  # neighbours, two at least, while they have at most 12 star nodes
        if len(groups[-1]) >= 2 and sum(len(stars[one]) for one in groups[-1]) + len(stars[unit]) > 12:
            groups.append([])
        groups[-1].append(unit)
    assert len(groups) == first["groups"]
    known = 0
    for group in groups:
        together = sum(len(stars[unit]) for unit in group)
        known += sum(len(stars[unit]) * (len(units[unit]) - 1 + together - len(stars[unit])) for unit in group)
    highest_up = [level["star_nodes"] for level in report["merge_tree"][1:]]
    assert known / 48 < report["pn_ratios"]["star"]["mean"] * report["star_nodes"]
    assert report["pn_ratios"]["star"]["mean"] * report["star_nodes"] <= (known + sum(n * n for n in highest_up)) / 48
