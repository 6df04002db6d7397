"""Incremental blocks against networkx, link by link."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from topicloom.kernels.greedy.blocks import build_blocks, link_blocks, share_block


@pytest.mark.parametrize(("n", "seed"), [(n, seed) for n in (2, 3, 5, 12, 30) for seed in range(4)])
def test_blocks_follow_random_links(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    b = build_blocks(np.arange(n + 1), np.zeros(n, np.int32), 1, np.empty(0, np.int32))
    graph = nx.empty_graph(n)
    flagged: set[int] = set()
    pairs = random.permutation(list(combinations(range(n), 2)))[: 3 * n]
    for u, v in pairs.tolist():
        changed = b.changed[: link_blocks(b, 0, u, v)].tolist()
        graph.add_edge(u, v)
        blocks = [frozenset(block) for block in nx.biconnected_components(graph)]
        together = {pair for block in blocks for pair in combinations(sorted(block), 2)}
        assert {pair for pair in combinations(range(n), 2) if share_block(b, *pair)} == together
        assert b.pending[0] == 2 * (nx.number_connected_components(graph) - 1) + len(blocks) - 1
        for e in changed:
            flagged ^= {e}
        assert set(np.flatnonzero(b.inside).tolist()) == flagged
        assert flagged in blocks
        assert 2 * len(flagged) > max(map(len, blocks))
