"""Decentralised divide-and-conquer: the central outcome without faults, a connected one or a reason with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow.csv import read_csv

import topicloom as tl
from support.small_interests import interests
from support.star_merge_replay import pn_ratios, star_sets
from topicloom.errors import InvalidOptionError
from topicloom.methods.dc.partitioning import divide
from topicloom_papers.simulation.network import HEADER, NUMBER, Send, SimulatedNetwork, Wake, size_of


def pairs(links):
    return {(int(u), int(v)) for u, v in links}


@settings(max_examples=60)
@given(interests(max_nodes=14, max_topics=8), st.integers(1, 6), st.integers(0, 3))
def test_without_faults_the_links_are_those_of_the_centre(interest, partitions, seed):
    partitions = min(partitions, max(interest.n_nodes, 1))
    run = tl.simulate_dc(interest, partitions=partitions, seed=seed)
    central = tl.divide_and_conquer(interest, partitions=partitions, seed=seed)
    assert pairs(run.overlay.links) == pairs(central.links)
    assert run.verdict.ok and not run.reasons and run.traffic.given_up == 0


@pytest.mark.parametrize("seed", range(6))
def test_nodes_that_want_nothing_do_not_turn_ties_where_each_node_is_a_partition(seed):
    interest = tl.Interest.from_csr(np.array([0, 0, 1, 2, 3]), np.zeros(3, np.int32), 1)
    run = tl.simulate_dc(interest, partitions=4, seed=seed)
    assert pairs(run.overlay.links) == pairs(tl.divide_and_conquer(interest, partitions=4, seed=seed).links)


@settings(max_examples=40)
@given(interests(max_nodes=14, max_topics=8), st.integers(2, 6), st.integers(0, 3), st.sampled_from([0.05, 0.2]))
def test_losses_alone_change_nothing_but_the_traffic(interest, partitions, seed, loss):
    partitions = min(partitions, max(interest.n_nodes, 1))
    run = tl.simulate_dc(interest, partitions=partitions, faults=tl.Faults(loss=loss, tries=40), seed=seed)
    assert pairs(run.overlay.links) == pairs(tl.divide_and_conquer(interest, partitions=partitions, seed=seed).links)


@settings(max_examples=60)
@given(
    interests(max_nodes=16, max_topics=8), st.integers(1, 6), st.integers(0, 50), st.sampled_from([0.0, 0.1, 0.2]),
    st.sampled_from([0.05, 0.3]), st.sampled_from([3, 10]),
)  # fmt: skip
def test_with_losses_and_crashes_the_living_are_connected_or_it_says_why(
    interest, partitions, seed, loss, crashes, tries
):
    partitions = min(partitions, max(interest.n_nodes, 1))
    faults = tl.Faults(loss=loss, crashes=crashes, tries=tries)
    run = tl.simulate_dc(interest, partitions=partitions, faults=faults, seed=seed)
    assert run.verdict.ok == (not run.reasons)
    assert set(run.reasons) == {broken.topic for broken in run.verdict.broken}
    if tries == 10:
        assert run.verdict.ok, run.reasons
        assert run.connected_at is not None


@pytest.mark.parametrize("seed", range(3))
def test_a_fifth_of_the_messages_and_a_twentieth_of_the_nodes_may_be_lost(seed):
    interest = tl.generate(nodes=200, topics=40, subscriptions=6, popularity="zipf", alpha=0.8, seed=seed)
    run = tl.simulate_dc(interest, partitions=10, faults=tl.Faults(loss=0.2, crashes=0.05), seed=seed)
    assert run.verdict.ok, run.reasons
    assert run.alive.sum() == 190 and run.traffic.given_up > 0
    living = [pair for pair in pairs(run.overlay.links) if run.alive[list(pair)].all()]
    assert len(living) == run.overlay.n_links


@pytest.mark.parametrize(
    ("name", "partitions", "seeds"), [("ros2_autoware.csv", 6, range(4)), ("mastodon_instances.csv.gz", 8, range(2))]
)
def test_the_same_on_real_interests(dataset, name, partitions, seeds):
    table = read_csv(dataset(name))
    interest = tl.Interest.from_pairs(table["node"].to_pylist(), table["topic"].to_pylist())
    for seed in seeds:
        run = tl.simulate_dc(interest, partitions=partitions, seed=seed)
        assert pairs(run.overlay.links) == pairs(
            tl.divide_and_conquer(interest, partitions=partitions, seed=seed).links
        )
        faulty = tl.Faults(loss=0.2, crashes=0.05)
        run = tl.simulate_dc(interest, partitions=partitions, faults=faulty, seed=seed)
        assert run.verdict.ok and run.alive.sum() == interest.n_nodes - round(0.05 * interest.n_nodes), run.reasons


@settings(max_examples=40)
@given(interests(max_nodes=14, max_topics=8), st.integers(2, 5), st.integers(0, 3))
def test_interests_learnt_are_the_potential_neighbours_of_the_paper(interest, partitions, seed):
    """pn-ratio(v), §VII: star nodes learn the other star nodes, others their partition; speakers relay star sets."""
    if not partitions < interest.n_nodes:
        return
    run = tl.simulate_dc(interest, partitions=partitions, seed=seed)
    partition = divide(interest, partitions, "random", seed=seed)
    units = [np.flatnonzero(partition == number).tolist() for number in range(partitions)]
    stars = star_sets(interest, units, seed)
    assert set(np.flatnonzero(run.stars).tolist()) == set().union(*stars)
    expected = pn_ratios(units, stars)
    for node in np.flatnonzero(~run.speakers | run.stars).tolist():
        assert run.learnt[node] / interest.n_nodes == pytest.approx(float(expected[node]))
    assert {len(values) for values in run.pn_ratios().values()} >= {int(run.stars.sum())}


def test_same_seed_same_trace():
    interest = tl.generate(nodes=80, topics=15, subscriptions=4, seed=2)
    faults = tl.Faults(loss=0.2, crashes=0.1)
    one, other, third = (tl.simulate_dc(interest, partitions=5, faults=faults, seed=seed) for seed in (4, 4, 5))
    assert one.trace == other.trace and one.overlay == other.overlay and one.traffic == other.traffic
    assert one.trace != third.trace


def test_messages_and_bytes_are_counted_by_kind():
    """Two partitions of two nodes that all want one topic: an interest each, two summaries each way, one star each."""
    interest = tl.Interest.from_csr([0, 1, 2, 3, 4], [0, 0, 0, 0], 1)
    run = tl.simulate_dc(interest, partitions=2)
    assert run.traffic.messages["interest"] == 4
    assert run.traffic.bytes["interest"] == 4 * (HEADER + 2 * NUMBER)
    assert run.traffic.messages["link"] == run.overlay.n_links == 3
    assert run.traffic.tries == run.traffic.acknowledgements == sum(run.traffic.messages.values())
    assert size_of(("stars", (1, 2), ((3, (4, 5)),))) == 5 * NUMBER


class Echo:
    """Sends one message to its peer, and counts what it hears."""

    def __init__(self, peer):
        self.peer, self.heard, self.told, self.lost = peer, 0, 0, 0

    def start(self):
        return [Send(self.peer, ("ping", 1), told=True), Wake(1.0, "x")]

    def receive(self, sender, message):
        self.heard += 1
        return []

    def acknowledged(self, to, message):
        self.told += 1
        return []

    def gave_up(self, to, message):
        self.lost += 1
        return []

    def wake(self, what):
        return []


@settings(max_examples=60)
@given(st.floats(0, 0.9), st.integers(1, 8), st.integers(0, 99))
def test_a_message_arrives_at_most_once_and_is_acknowledged_or_given_up(loss, tries, seed):
    programs = [Echo(1), Echo(0)]
    network = SimulatedNetwork(programs, tl.Faults(loss=loss, tries=tries), seed=seed, horizon=1e9)
    network.run()
    for one, other in (programs, programs[::-1]):
        assert one.told + one.lost == 1 and other.heard <= 1
        assert other.heard or one.lost


def test_a_crashed_node_neither_sends_nor_hears():
    programs = [Echo(1), Echo(0)]
    network = SimulatedNetwork(programs, tl.Faults(crashes=0.5, crash_until=0.0), seed=0, horizon=1e9)
    (crashed,) = network.crashed_at
    network.run()
    assert programs[crashed].heard == 0 and programs[1 - crashed].heard == 0 and programs[1 - crashed].lost == 1


def test_options_that_cannot_be_are_refused():
    interest = tl.generate(nodes=5, topics=3, subscriptions=2)
    for options in ({"loss": 1.0}, {"crashes": 2}, {"delays": (0, 1)}, {"tries": 0}):
        with pytest.raises(InvalidOptionError):
            tl.Faults(**options)
    with pytest.raises(InvalidOptionError, match="at most one for each"):
        tl.simulate_dc(interest, partitions=6)


def test_a_run_that_is_stopped_says_what_the_living_lacked():
    """Every kind of reason, from runs that are cut off; what can be seen from outside is so."""
    interest = tl.generate(nodes=40, topics=12, subscriptions=4, seed=1)
    number = {interest.topic_name(topic): topic for topic in range(interest.n_topics)}
    faulty = tl.Faults(loss=0.2, crashes=0.1)
    runs = [tl.simulate_dc(interest, partitions=4, horizon=horizon, seed=1) for horizon in (1, 2, 4)]
    runs += [tl.simulate_dc(interest, partitions=4, horizon=horizon, faults=faulty, seed=1) for horizon in (60, 80)]
    kinds = set()
    for run in runs:
        assert set(run.reasons) == {broken.topic for broken in run.verdict.broken} != set()
        for topic, why in run.reasons.items():
            assert why.endswith(" when the run stopped")
            nodes = [int(word) for word in why.split() if word.isdecimal()]
            assert all(run.alive[node] and number[topic] in interest.topics_of(node) for node in nodes)
            if "dialling" in why:
                assert tuple(nodes) not in pairs(run.overlay.links)
            kinds.add(" ".join(word for word in why.split() if not word.isdecimal()))
    assert kinds == {
        "node had not heard of its whole partition when the run stopped",
        "node was dialling node when the run stopped",
        "nodes and differed on who is in their partition when the run stopped",
        "nodes and had heard of different star sets when the run stopped",
        "star nodes had not heard of each other's partitions when the run stopped",
    }
