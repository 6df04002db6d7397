"""Backups by the definition: slow covers over plain sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.churn_states import state_of
from support.small_interests import interests
from topicloom.kernels.repair.backups import GREEDY, PRIMAL_DUAL
from topicloom.kernels.streams import BACKUP_STREAM, below, draw


def slow_backups(interest, builder, v, weight, tie, rounds, base):
    """λ covers, each without the nodes that earlier ones took."""
    wants = [interest.topics_of(u).tolist() for u in range(interest.n_nodes)]
    backups = []
    for r in range(rounds):
        free = [u for u in range(interest.n_nodes) if u != v and u not in backups]
        if builder == GREEDY:
            backups += slow_greedy(wants, free, wants[v], weight, tie)
        else:
            backups += slow_primal_dual(wants, free, wants[v], weight, tie, np.uint64(draw(base, r, 0)))
    return backups


def slow_greedy(wants, free, topics, weight, tie):
    rest, taken = set(topics), []
    while True:
        gains = {u: len(rest & set(wants[u])) for u in free if u not in taken and rest & set(wants[u])}
        if not gains:
            return taken
        # Without any weight the node that covers most: of price 0 all are equal otherwise.
        best = min(gains, key=lambda u: (weight[u] / gains[u], -gains[u] if weight[u] == 0 else 0, tie[u]))
        taken.append(best)
        rest -= set(wants[best])


def slow_primal_dual(wants, free, topics, weight, tie, base):
    left = {u: weight[u] for u in free}
    rest, taken = list(range(len(topics))), []

    def cross_out(position):
        if position in rest:
            rest[rest.index(position)] = rest[-1]
            rest.pop()

    while rest:
        position = rest[below(np.uint64(draw(base, 0, len(rest))), len(rest))]
        able = [u for u in free if topics[position] in wants[u]]
        if not able:
            cross_out(position)
            continue
        best = min(able, key=lambda u: (left[u], tie[u]))
        price = left[best]
        for u in able:
            left[u] -= price
        if best in taken:  # its price is 0 and its topics are crossed out: it cannot come again
            raise AssertionError
        taken.append(best)
        for topic in wants[best]:
            if topic in topics:
                cross_out(topics.index(topic))
    return taken


@pytest.mark.parametrize("builder", [PRIMAL_DUAL, GREEDY])
@given(interest=interests(), data=st.data(), rounds=st.integers(1, 3), seed=st.integers(0, 9))
def test_backups_are_those_of_the_definition(builder, interest, data, rounds, seed):
    n = interest.n_nodes
    links = data.draw(st.sets(st.sampled_from([(u, v) for v in range(n) for u in range(v)]))) if n > 1 else set()
    state = state_of(interest, links, seed)
    state.rebuild_backups(np.arange(n, dtype=np.int32), builder, rounds, 0)
    primaries = [[] for _ in range(n)]
    for v in range(n):  # in this order each sees the primaries that those before it made
        base = np.uint64(draw(seed, BACKUP_STREAM, v + 1))
        weight = [sum(u in link for link in links) + len(primaries[u]) for u in range(n)]
        shared = [len(np.intersect1d(interest.topics_of(u), interest.topics_of(v))) for u in range(n)]
        tie = [tie_of(state.keys[u], base, shared[u]) for u in range(n)]
        expected = slow_backups(interest, builder, v, weight, tie, rounds, base)
        assert state.backups.of(v).tolist() == expected
        for u in expected:
            primaries[u].append(v)
    assert [sorted(state.primaries.of(u).tolist()) for u in range(n)] == primaries


def tie_of(key, base, shared):
    """Most shared topics first, then by the key as the base of the call mixes it."""
    return -shared, int((key ^ base) >> np.uint64(44))
