"""What each policy may choose, replayed by brute force through the public maintainer."""

import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import topicloom as tl
from support.churn_checks import link_labels, model_of


def interest(seed: int, nodes: int = 24, topics: int = 8) -> tl.Interest:
    return tl.generate(nodes=nodes, topics=topics, subscriptions=3, seed=seed)


def components(model: dict[str, set[str]], links: set[tuple[str, str]], topic: str) -> list[set[str]]:
    graph = nx.Graph()
    graph.add_nodes_from(node for node, wanted in model.items() if topic in wanted)
    graph.add_edges_from((u, v) for u, v in links if u in graph and v in graph)
    return list(nx.connected_components(graph))


def replay_leave(model, links, added, rho):
    """Every link of a repair is the best of all pairs of subscribers, by Low-ODA's rule, at its turn."""
    links = set(links)
    for chosen in added:
        pieces = {t: components(model, links, t) for t in set().union(*model.values())}
        cut = {t: found for t, found in pieces.items() if len(found) > 1}
        of = {t: {node: at for at, piece in enumerate(found) for node in piece} for t, found in cut.items()}
        degree = {node: sum(node in link for link in links) for node in model}
        top = max(degree.values())
        gain = {
            (u, v): sum(u in piece and v in piece and piece[u] != piece[v] for piece in of.values())
            for u, v in combinations(sorted(model), 2)
        }
        best = max(gain.values())
        calm = max((g for (u, v), g in gain.items() if max(degree[u], degree[v]) < top), default=0)
        if calm * rho >= best:
            assert gain[chosen] == calm and max(degree[end] for end in chosen) < top
        else:
            assert gain[chosen] == best
        links.add(chosen)
    assert all(len(components(model, links, t)) == 1 for t in set().union(*model.values()))


@pytest.mark.parametrize("rho", [1.0, 3.0])
def test_a_naive_leave_chooses_among_all_subscribers(rho):
    """Among the neighbours of the leaver alone, a better link is missed."""
    far = 0
    for seed in range(12):
        given = interest(seed)
        m = tl.Maintainer(given, tl.low_oda(given), policy="naive", rho=rho)
        draw = random.Random(seed)
        for _ in range(8):
            node = draw.choice(sorted(model_of(m.interest)))
            before = link_labels(m)
            near = {end for link in before if node in link for end in link}
            change = m.leave(node)
            replay_leave(model_of(m.interest), {link for link in before if node not in link}, change.added, rho)
            far += sum(not set(link) <= near for link in change.added)
    assert far  # links that neighbours alone could not have made


def test_rebuilding_follows_rho():
    """After each event the links are those of a fresh design with the same rho."""
    given = interest(1, nodes=40)
    links = {}
    for rho in (1.0, 2.0, 50.0):
        m = tl.Maintainer(given, tl.low_oda(given), policy="rebuild", rho=rho, seed=3)
        m.leave("n03")
        m.join("x", ["t1", "t2"])
        fresh = tl.low_oda(m.interest, rho=rho, seed=3)
        assert {tuple(link) for link in m.overlay.links.tolist()} == {tuple(link) for link in fresh.links.tolist()}
        links[rho] = link_labels(m)
    assert links[1.0] != links[50.0]  # or rho would not have been seen


@pytest.mark.parametrize("seed", range(6))
def test_with_everybody_a_backup_shadow_is_naive(seed):
    given = interest(seed)
    start = tl.low_oda(given)
    shadow = tl.Maintainer(given, start, policy="shadow", coverage=1000)
    naive = tl.Maintainer(given, start, policy="naive")
    draw = random.Random(seed)
    for number in range(25):
        nodes = sorted(model_of(naive.interest))
        node = draw.choice(nodes)
        if draw.random() < 0.5:
            event = {"event": "leave", "node": node}
        else:
            event = {"event": "join", "node": f"x{number}", "topics": draw.sample([f"t{t}" for t in range(8)], 3)}
        one, other = shadow.apply([event]), naive.apply([event])
        assert (one.added, one.removed) == (other.added, other.removed)
        everybody = set(model_of(shadow.interest))
        for label, wanted in model_of(shadow.interest).items():
            sharing = {o for o in everybody if o != label and model_of(shadow.interest)[o] & wanted}
            assert set(shadow.backups_of(label)) == sharing
    assert np.array_equal(shadow.overlay.links, naive.overlay.links)


@pytest.mark.parametrize(("policy", "k"), [("shadow", 1), ("shadow", 2), ("naive", 1)])
def test_by_default_a_leave_removes_the_links_of_the_leaver_alone(policy, k):
    given = interest(2, nodes=60)
    m = tl.Maintainer(given, tl.low_oda(given) if k == 1 else tl.gm2(given), policy=policy, k=k)
    assert m.options["release"] == 0
    for node in sorted(model_of(given))[:30]:
        own = {link for link in link_labels(m) if node in link}
        assert set(m.leave(node).removed) == own


def test_releasing_is_an_option_that_finds_links_to_release():
    given = tl.generate(nodes=80, topics=12, subscriptions=5, seed=2)
    m = tl.Maintainer(given, tl.low_oda(given), release=2)
    others = 0
    for number, node in enumerate(sorted(model_of(given))[:50]):
        m.join(f"x{number}", model_of(given)[node])
        spare = [link for link in m.leave(node).removed if node not in link]
        assert len(spare) <= 2
        others += len(spare)
    assert others
    assert tl.verify(m.interest, m.overlay.links).ok
