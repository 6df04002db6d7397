import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom as tl
from support.small_interests import interests
from topicloom.errors import InvalidInterestError, InvalidLinksError, InvalidOptionError

HERE = tl.Interest.from_pairs(["a", "b", "b", "c"], ["x", "x", "y", "z"])
THERE = tl.Interest.from_pairs(["d", "d", "e", "f"], ["x", "y", "y", "w"])


def designed(interest):
    return interest, tl.greedy_merge(interest)


def sites(count=10, **workload):
    """Overlays by GM whose nodes have different labels and whose topics are the same."""
    found = []
    for site in range(count):
        drawn = tl.generate(**{"nodes": 100, "topics": 100, "subscriptions": 20, "seed": site} | workload)
        nodes = [f"{site}-{v}" for v in drawn.nodes]
        found.append(designed(tl.Interest.from_pairs(nodes, [f"{t:03}" for t in drawn.topics])))
    return found


@pytest.mark.parametrize("method", tl.JOIN_METHODS)
@given(st.lists(interests(), min_size=2, max_size=4), st.integers(0, 3))
def test_joined_overlays_are_topic_connected_and_untouched(method, parts, seed):
    joined = tl.join([designed(part) for part in parts], method=method, seed=seed)
    assert tl.verify(joined.interest, joined.links).ok
    assert tl.join([tl.greedy_merge(part) for part in parts], method=method, seed=seed) == joined
    start, links = 0, []
    for part in parts:  # ids without labels: one overlay after the other
        links += (tl.greedy_merge(part).links + start).tolist()
        start += part.n_nodes
    assert joined.links[: len(links)].tolist() == links
    assert joined.report["inner_links"] == len(links)
    assert joined.report["outer_links"] == joined.n_links - len(links)
    unit = np.repeat(np.arange(len(parts)), [part.n_nodes for part in parts])
    assert all(unit[u] != unit[v] for u, v in joined.links[len(links) :])


@given(interests(), st.integers(0, 3))
def test_joining_single_nodes_is_greedy_merge(interest, seed):
    nodes = [(interest.restrict([v]), []) for v in range(interest.n_nodes)]
    if len(nodes) >= 2:
        joined = tl.join(nodes, method="naive-merge", seed=seed)
        assert joined.links.tolist() == tl.greedy_merge(interest, seed=seed).links.tolist()


def test_nodes_are_known_by_their_labels_whatever_the_order():
    joined = tl.join([designed(THERE), designed(HERE)])
    assert joined.interest.node_labels.tolist() == list("abcdef")
    assert joined.interest.topic_labels.tolist() == list("wxyz")
    names = {tuple(joined.interest.node_labels[link]) for link in joined.links}
    assert {("a", "b"), ("d", "e"), ("b", "d")} == names
    assert tl.verify(joined.interest, joined.links).ok


def test_given_links_will_do():
    joined = tl.join([(HERE, [(0, 1)]), (THERE, tl.greedy_merge(THERE).links)])
    assert joined.report["outer_links"] == 1


def test_what_cannot_be_joined_is_refused_with_the_reason():
    with pytest.raises(InvalidOptionError, match="two or more"):
        tl.join([designed(HERE)])
    with pytest.raises(InvalidOptionError, match="naive-merge"):
        tl.join([designed(HERE), designed(THERE)], method="best")
    with pytest.raises(InvalidLinksError, match=r"overlay 1 is not topic-connected: 1 of its topics are broken.*'y'"):
        tl.join([designed(HERE), (THERE, [])])
    with pytest.raises(InvalidInterestError, match="'b' is in overlay 0 and in overlay 1; only"):
        tl.join([designed(HERE), designed(tl.Interest.from_pairs(["b", "b"], ["x", "y"]))])
    with pytest.raises(InvalidInterestError, match=r"'b' is in overlay 0 .*disagree on its subscriptions"):
        tl.join([designed(HERE), designed(tl.Interest.from_pairs(["b"], ["x"]))])
    with pytest.raises(InvalidInterestError, match="built for another interest"):
        tl.join([(HERE, tl.greedy_merge(THERE)), designed(THERE)])
    with pytest.raises(InvalidInterestError, match="labels"):
        tl.join([designed(HERE), designed(tl.Interest.from_csr([0, 1], [0], 1))])


def test_the_papers_join_setting():
    """Ten overlays of 100 nodes: the pn-ratio of Star Merge is 18.5 ± 1.5 %, degrees of the two are close."""
    overlays = sites()
    star, naive = (tl.join(overlays, method=method) for method in ("star-merge", "naive-merge"))
    assert star.report["pn_ratio"] == pytest.approx(0.185, abs=0.015)
    assert naive.report["pn_ratio"] > 0.99
    assert 0 <= 2 * (star.n_links - naive.n_links) / 1000 <= 0.15


def test_the_report_survives_saving(tmp_path):
    joined = tl.join([designed(HERE), designed(THERE)])
    joined.save(tmp_path / "joined")
    assert tl.Overlay.load(tmp_path / "joined").report == joined.report
