import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import EDGE_CASES, interest_of, interests
from topicloom.errors import InvalidOptionError
from topicloom.methods.dc.conquer import Settings, group_units, inner_links
from topicloom.methods.dc.partitioning import Trial, best_count, choose_core, divide, order_of
from topicloom.methods.dc.star_merge import Part, wanted_elsewhere

TABLE_I = {"nodes": 1000, "topics": 100, "subscriptions": 20}


@given(
    interests(max_nodes=14),
    st.integers(1, 20),
    st.sampled_from(["random", "similar"]),
    st.sampled_from(["gm", "low-oda", "rounds-gm"]),
    st.sampled_from([None, 0, 1, 3, 50]),
    st.sampled_from([2, 4, 20_000]),
    st.integers(0, 3),
)
def test_always_topic_connected(interest, partitions, division, inner, core, limit, seed):
    overlay = tl.design(
        interest,
        "dc",
        partitions=partitions,
        division=division,
        inner=inner,
        core=core,
        merge_limit=limit,
        seed=seed,
    )
    assert tl.verify(interest, overlay.links).ok
    report = overlay.report
    assert report["inner_links"] + report["outer_links"] == overlay.n_links
    assert 0 <= report["pn_ratio"] < 1
    ratios = report["pn_ratios"].values()
    assert sum(one["nodes"] for one in ratios) == interest.n_nodes
    assert all(0 <= one["mean"] <= one["max"] + 1e-12 for one in ratios)
    assert max((one["max"] for one in ratios), default=0) == report["pn_ratio"]
    assert json.loads(json.dumps(dict(report))) == report


@settings(max_examples=40)
@given(interests(max_nodes=14), st.integers(0, 3), st.sampled_from(["random", "similar"]))
def test_one_partition_or_one_for_each_node_is_greedy_merge(interest, seed, division):
    expected = tl.greedy_merge(interest, seed=seed).links.tolist()
    for partitions in (1, max(interest.n_nodes, 1), interest.n_nodes + 5):
        overlay = tl.design(interest, "dc", partitions=partitions, division=division, seed=seed)
        assert overlay.links.tolist() == expected
    low = tl.design(interest, "dc", partitions=1, inner="low-oda", rho=2, seed=seed)
    assert low.links.tolist() == tl.low_oda(interest, rho=2, seed=seed).links.tolist()
    for rho in (None, 2):
        rounds = tl.design(interest, "dc", partitions=1, inner="rounds-gm", rho=rho, seed=seed)
        assert rounds.links.tolist() == tl.rounds_greedy_merge(interest, rho=rho, seed=seed).links.tolist()


@pytest.mark.parametrize("division", ["random", "similar"])
@pytest.mark.parametrize("name", EDGE_CASES)
@pytest.mark.parametrize("inner", ["gm", "rounds-gm"])
def test_edge_cases(name, division, inner):
    interest = EDGE_CASES[name]
    for partitions in (2, 3, 7, "auto"):
        overlay = tl.design(interest, "dc", partitions=partitions, division=division, inner=inner)
        assert tl.verify(interest, overlay.links).ok


@given(interests(max_nodes=14), st.sets(st.integers(0, 13)), st.sampled_from([None, 2]), st.integers(0, 3))
def test_links_in_rounds_join_what_is_connected_already_with_all_others(interest, inside, rho, seed):
    """With a tree over each topic of the nodes inside, they make an overlay; no link of theirs lies inside."""
    part = Part.of(interest, np.arange(interest.n_nodes))
    unit = np.array([0 if v in inside else v + 1 for v in range(interest.n_nodes)])
    in_rounds = Settings(interest.n_topics, rho or 0.0, seed, rounds=True)
    links = inner_links(part, unit, in_rounds, np.arange(interest.n_nodes)).tolist()
    assert not any({u, v} <= inside for u, v in links)
    members = [sorted(inside & set(interest.subscribers(topic).tolist())) for topic in range(interest.n_topics)]
    trees = [[u, v] for nodes in members for u, v in pairwise(nodes)]
    assert tl.verify(interest, np.array(links + trees, np.int32).reshape(-1, 2)).ok


def test_rounds_need_fewer_links_than_greedy_merge_in_the_same_partitions():
    interest = tl.generate(nodes=1500, topics=150, subscriptions=15, popularity="zipf", seed=5)
    for division in ("random", "similar"):
        made = {
            inner: tl.design(interest, "dc", partitions=5, division=division, inner=inner)
            for inner in ("gm", "rounds-gm")
        }
        assert made["rounds-gm"].n_links < 0.95 * made["gm"].n_links
        assert made["rounds-gm"].verify().ok


@pytest.mark.parametrize(("inner", "effort", "k"), [("gm", 30, 1), ("rounds-gm", 30, 1), ("gm2", 5, 2)])
def test_partitions_that_are_refined_keep_the_promise_with_fewer_links(inner, effort, k):
    interest = tl.generate(nodes=300, topics=30, subscriptions=8, popularity="zipf", seed=5)
    plain = tl.design(interest, "dc", partitions=3, inner=inner)
    refined = tl.design(interest, "dc", partitions=3, inner=inner, inner_effort=effort)
    assert refined.verify(k).ok
    assert refined.n_links < plain.n_links
    assert refined.report["inner_links"] < plain.report["inner_links"]
    alone = tl.design(interest, "dc", partitions=1, inner=inner, inner_effort=effort)
    whole = tl.refine(tl.design(interest, "dc", partitions=1, inner=inner), effort=effort, k=k)
    assert sorted(alone.links.tolist()) == sorted(whole.links.tolist())


def test_partitions_with_a_core_are_not_refined():
    interest = tl.generate(nodes=100, topics=30, subscriptions=8)
    for options in ({"core": 5}, {"division": "similar"}):
        with pytest.raises(InvalidOptionError, match="needs core=0"):
            tl.design(interest, "dc", inner_effort=1, **options)
    with pytest.raises(InvalidOptionError, match="inner_effort"):
        tl.design(interest, "dc", inner_effort=-1)
    assert tl.design(interest, "dc", inner_effort=1, division="similar", core=0).verify().ok


@pytest.mark.parametrize("division", ["random", "similar"])
def test_one_giant_node_that_wants_everything(division):
    rng = np.random.default_rng(1)
    rows = [set(range(2000))] + [set(rng.choice(2000, 5).tolist()) for _ in range(300)]
    interest = interest_of(rows, 2000)
    overlay = tl.design(interest, "dc", partitions=7, division=division)
    assert tl.verify(interest, overlay.links).ok


def test_a_topic_that_everyone_wants():
    interest = interest_of([{0}] * 3000, 1)
    overlay = tl.design(interest, "dc", partitions=30)
    assert overlay.n_links == 2999 and overlay.report["star_set"]["max"] == 1


def test_random_partitions_are_of_equal_size():
    interest = tl.generate(nodes=103, topics=20, subscriptions=4)
    assert set(np.bincount(divide(interest, 10, "random", seed=1), minlength=10)) == {10, 11}


def test_partitions_of_like_nodes_are_of_about_equal_size():
    interest = tl.generate(nodes=5000, topics=50, subscriptions=4)
    sizes = np.bincount(divide(interest, 10, "similar", seed=1), minlength=10)
    assert sizes.min() > 400 and sizes.max() < 600


@pytest.mark.parametrize("division", ["random", "similar"])
def test_partitions_follow_the_seed(division):
    interest = tl.generate(nodes=103, topics=20, subscriptions=4)
    partition = divide(interest, 10, division, seed=1)
    assert (partition == divide(interest, 10, division, seed=1)).all()
    assert (partition != divide(interest, 10, division, seed=2)).any()


def test_like_nodes_are_put_together():
    rows = [{5 * kind + extra for extra in range(5)} for kind in range(4) for _ in range(25)]
    partition = divide(interest_of(rows, 20), 4, "similar", seed=0)
    assert [len(set(partition[25 * kind : 25 * kind + 25])) for kind in range(4)] == [1] * 4


def test_the_rarest_topic_of_a_node_decides_unless_it_is_tiny():
    """Partitions of 50 nodes: topics of 3 and more lead, the rarest first; the others come last, the largest first."""
    subscribers = np.array([2, 40, 3, 1, 10])
    assert order_of("similar", subscribers, 100, 2, seed=0).topic_rank.tolist() == [3, 2, 0, 4, 1]
    assert order_of("similar", subscribers, 5, 2, seed=0).topic_rank.tolist() == [0, 3, 1, 4, 2]
    assert order_of("random", subscribers, 100, 2, seed=0).topic_rank is None


@given(interests(max_nodes=14), st.integers(1, 6), st.integers(0, 2))
def test_a_partition_knows_from_numbers_alone_what_others_want(interest, partitions, seed):
    partition = divide(interest, partitions, "random", seed=seed)
    for number in range(partitions):
        inside = np.flatnonzero(partition == number)
        found = wanted_elsewhere(Part.of(interest, inside), np.diff(interest.topic_indptr))
        assert found.tolist() == [
            bool(set(interest.subscribers(topic).tolist()) - set(inside.tolist())) for topic in range(interest.n_topics)
        ]


@given(interests(max_nodes=14), st.integers(1, 6), st.integers(0, 2), st.sampled_from(["random", "similar"]))
def test_partitions_ascend_with_the_keys(interest, partitions, seed, division):
    """So that nodes whose keys are near each other are together."""
    order = order_of(division, np.diff(interest.topic_indptr), interest.n_nodes, partitions, seed=seed)
    keys = order.keys(np.arange(interest.n_nodes), interest.indptr, interest.topics)
    partition = order.partition(np.sort(keys), order.leads(keys))
    assert (np.diff(partition) >= 0).all()
    assert partition.min(initial=0) >= 0 and partition.max(initial=0) < partitions


def test_a_core_is_for_topics_with_more_than_a_few_subscribers():
    """More than four, or than there are partitions: topic 0 with six, and, in two partitions, topic 3 with three."""
    interest = interest_of([{0, 1}, {0, 2}, {0, 2}, {0, 3}, {0, 3}, {0, 3}], 4)
    everyone = Part.of(interest, np.arange(6))
    subscribers = np.diff(interest.topic_indptr)
    assert choose_core(everyone, subscribers, 2, 1, seed=0).topics.tolist() == [0, 3]
    assert len(choose_core(everyone, np.minimum(subscribers, 4), 9, 3, seed=0).nodes) == 0


@pytest.mark.parametrize("sizes", ["fixed", "mean"])
def test_table_one(sizes):
    """1,000 × 100 × 20 uniform in 10 partitions: at most 1.34 × GM's degree, star sets of 8 to 11."""
    ratios, stars = [], []
    for seed in range(4):
        interest = tl.generate(**TABLE_I, sizes=sizes, seed=seed)
        overlay = tl.design(interest, "dc", partitions=10, seed=seed)
        assert tl.verify(interest, overlay.links).ok
        ratios.append(overlay.n_links / tl.greedy_merge(interest, seed=seed).n_links)
        stars.append(overlay.report["star_set"]["mean"])
    assert np.mean(ratios) <= 1.34
    assert 8 <= np.mean(stars) <= 11


@pytest.mark.parametrize(
    ("name", "partitions", "seeds"),
    [
        ("ros2_autoware.csv", 5, 10),
        ("mastodon_instances.csv.gz", 5, 3),
        ("mastodon_accounts.csv.gz", 10, 1),
        ("github_follow.csv.gz", 20, 1),
    ],
)
def test_likeness_halves_the_excess_on_real_interests(dataset, name, partitions, seeds):
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(dataset(name), dtype=str)
    interest = tl.Interest.from_pairs(table["node"], table["topic"])
    excess = {"random": 0.0, "similar": 0.0}
    for seed in range(1, seeds + 1):
        least = tl.greedy_merge(interest, seed=seed).n_links
        for division in excess:
            overlay = tl.design(interest, "dc", partitions=partitions, division=division, seed=seed)
            assert tl.verify(interest, overlay.links).ok
            excess[division] += overlay.n_links / least - 1
    assert excess["similar"] <= excess["random"] / 2


def test_groups_of_units():
    assert group_units(np.array([5]), 2).tolist() == [0]
    assert group_units(np.array([5, 5, 5, 5]), 2).tolist() == [0, 0, 1, 1]
    assert group_units(np.zeros(6, int), 2).tolist() == [0] * 6


def test_a_low_limit_makes_a_tree_of_merges():
    interest = tl.generate(**TABLE_I)
    overlay = tl.design(interest, "dc", partitions=16, merge_limit=40)
    tree = overlay.report["merge_tree"]
    assert len(tree) > 1 and tree[0]["units"] == 16 and tree[-1]["groups"] == 1
    assert [level["groups"] for level in tree[:-1]] == [level["units"] for level in tree[1:]]
    assert tl.verify(interest, overlay.links).ok


def test_the_number_of_partitions_is_chosen_by_the_papers_rule():
    interest = tl.generate(**TABLE_I)
    chosen = {
        aim: tl.design(interest, "dc", partitions="auto", aim=aim).report["partitions"]
        for aim in ("time", "parallel-time", "candidates")
    }
    assert 8 <= chosen["time"] <= 24
    assert chosen["parallel-time"] <= chosen["time"]
    star_sets = {count: Trial(10.0) for count in (2, 4, 8, 16)}
    assert best_count(160, star_sets, "time") == 4  # 1/4 + (10/40)², against 1/2 + (10/80)² and 1/8 + (10/20)²
    assert best_count(160, star_sets, "candidates") == 4
    assert best_count(3, {}, "time") == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"partitions": 0}, "partitions is 0"),
        ({"partitions": "many"}, '"auto" is accepted'),
        ({"partitions": 2.5}, "partitions is 2.5"),
        ({"division": "fair"}, "random, similar"),
        ({"inner": "gm2", "rho": 2}, "inner is gm2"),
        ({"inner": "ring-pt"}, "gm, low-oda"),
        ({"rho": 2}, "inner is gm"),
        ({"inner": "low-oda", "rho": 0}, "rho is 0"),
        ({"core": -1}, "core is -1"),
        ({"merge_limit": 1}, "merge_limit is 1"),
        ({"aim": "luck"}, "parallel-time"),
    ],
)
def test_options_are_checked(options, reason):
    with pytest.raises(InvalidOptionError, match=reason):
        tl.design(tl.Interest.from_pairs(["a"], ["x"]), "dc", **options)
