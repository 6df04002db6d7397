"""Rebalancing: degrees come back within their factor, a few links at a time, and topics stay connected throughout."""

import random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import topicloom as tl
from support.churn_checks import check, interest_of, link_labels, maintained, model_of
from topicloom.churn.exchange import CHANGES, cut_of_one, cut_of_two, relieve, star_of, thin_out
from topicloom.churn.rebalance import MOST_CHANGES, MOVES, Balance
from topicloom.errors import InvalidOptionError

TOPICS = [f"t{i}" for i in range(6)]
models = st.dictionaries(
    st.sampled_from([f"n{i}" for i in range(12)]), st.sets(st.sampled_from(TOPICS), max_size=5), min_size=3
)


@given(models, st.sampled_from([1, 2]), st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_every_move_keeps_topics_connected_and_raises_no_maximum(model, k, turn):
    interest = interest_of(model)
    overlay = tl.cycle_per_topic(interest) if k == 2 else tl.full_mesh(interest)
    m = tl.Maintainer(interest, overlay, k=k)
    state = m._upkeep.state
    for number in range(turn, turn + 8):
        for move in (relieve, thin_out):
            degree = state.neighbours.ragged.length
            linked = np.flatnonzero(degree)
            if not len(linked):
                return
            u, before, top = int(linked[number % len(linked)]), len(state.links), int(degree.max())
            own, state.cap = int(degree[u]), top
            done = move(state, u, turn=number, k=k)
            assert before - done <= len(state.links) <= before + (1 if move is relieve else -1) * done
            assert len(state.added) + len(state.removed) <= CHANGES * done
            state.settle()
            assert state.neighbours.length(u) == own - done and state.neighbours.ragged.length.max() <= top
            m._shown = None
            check(m, model, k)


@given(models, st.sampled_from([1, 2]), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_an_event_changes_few_links_beside_its_repair(model, k, events):
    interest = interest_of(model)
    m = tl.Maintainer(interest, tl.cycle_per_topic(interest) if k == 2 else tl.full_mesh(interest), k=k)
    balance = Balance(1.0, rho=3.0, k=k, seed=0)
    for applied in range(1, 12):
        balance.after(m._upkeep.state, events, applied * events)
        assert len(m._upkeep.state.added) + len(m._upkeep.state.removed) <= MOST_CHANGES * events
        m._upkeep.state.settle()
        m._shown = None
        check(m, model, k)


def test_links_are_told_apart_by_what_they_are_needed_for():
    interest = tl.Interest.from_pairs(list("abcd") + list("ab"), ["x"] * 4 + ["y"] * 2)
    m = tl.Maintainer(interest, tl.Overlay(interest, np.array([(0, 1), (1, 2), (2, 3), (0, 3)])))
    state = m._upkeep.state

    def cut(node, *others):
        star = star_of(state, state.nodes.number[node])
        names = [state.nodes.label(other) for other in star.others]
        found = (cut_of_one if len(others) == 1 else cut_of_two)(star, *map(names.index, others))
        return found and [state.topics.label(t) for t in found.topics]

    assert cut("a", "b") == ["y"]
    assert cut("c", "d") == []
    assert cut("b", "a", "c") == ["x", "y"]  # a, d and c are one piece without b
    state.remove_links(state.nodes.number["c"], np.array([state.nodes.number["d"]], np.int32))
    assert cut("a", "b") == ["x", "y"]
    assert cut("b", "a", "c") is None


@pytest.mark.parametrize(("k", "policy"), [(1, "shadow"), (1, "naive"), (2, "shadow")])
def test_a_hub_is_taken_apart_event_by_event(k, policy):
    interest = tl.generate(nodes=80, topics=12, subscriptions=4, seed=3)
    overlay = tl.cd_oda(interest) if k == 1 else tl.harary_per_topic(interest, k=3)
    m = tl.Maintainer(interest, overlay, policy, k=k, rebalance=1.2)
    model = model_of(interest)
    quiet = tl.Maintainer(interest, overlay, policy, k=k)
    top = overlay.degree().max()
    for number in range(120):
        before = link_labels(m)
        m.join(f"x{number}", ["t01", "t02"])
        model[f"x{number}"] = {"t01", "t02"}
        quiet.join(f"x{number}", ["t01", "t02"])
        links = link_labels(m)
        assert len(before - links) <= 2 * MOVES  # a join alone removes nothing
        check(m, model, k)
    fresh = (tl.low_oda if k == 1 else tl.gm2)(m.interest)
    if k == 1:
        assert m.overlay.degree().max() <= 2 * 1.2 * fresh.degree().max() < top
        assert quiet.overlay.degree().max() >= top
    assert m.overlay.n_links < quiet.overlay.n_links


def test_nothing_moves_within_the_factor():
    events = [("join", "x", ["t01", "t02"]), ("leave", "n03", None), ("leave", "n07", None), ("join", "y", ["t05"])]
    plain, _ = maintained()
    balanced, _ = maintained(rebalance=50)
    for kind, node, topics in events:
        event = {"event": kind, "node": node, "topics": topics}
        one, other = plain.apply([event]), balanced.apply([event])
        assert (one.added, one.removed) == (other.added, other.removed)


def test_a_reopened_state_rebalances_alike(tmp_path):
    interest = tl.generate(nodes=60, topics=15, subscriptions=5, seed=1)
    overlay = tl.ring_per_topic(interest)
    memory = tl.Maintainer(interest, overlay, rebalance=1.0)
    durable = tl.Maintainer.open(tmp_path / "state.db", interest=interest, overlay=overlay, rebalance=1.0)
    draw = random.Random(2)
    moved = 0
    for number in range(40):
        if number % 2:
            event = {"event": "leave", "node": draw.choice(memory.interest.node_labels.tolist())}
        else:
            event = {"event": "join", "node": f"x{number}", "topics": ["t01", f"t{number % 15:02}", "t03"]}
        one, other = memory.apply([event]), durable.apply([event])
        assert (one.added, one.removed) == (other.added, other.removed)
        moved += len(one.removed) if number % 2 == 0 else 0
        durable.close()
        durable = tl.Maintainer.open(tmp_path / "state.db", rebalance=1.0)
        assert durable.options == memory.options
    assert moved  # joins remove nothing by themselves
    durable.close()


def test_what_cannot_be_rebalanced_is_refused():
    interest = tl.generate(nodes=20, topics=4, subscriptions=2, seed=0)
    for factor, options in ((0.9, {}), (True, {}), ("much", {}), (float("inf"), {}), (1.2, {"policy": "rebuild"})):
        with pytest.raises(InvalidOptionError):
            tl.Maintainer(interest, tl.low_oda(interest), rebalance=factor, **options)
    with pytest.raises(InvalidOptionError, match="k = 1 and 2"):
        tl.Maintainer(interest, tl.harary_per_topic(interest, k=3), k=3, rebalance=1.2)
