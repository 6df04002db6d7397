"""Links that are forbidden stay so: through files, refinement and every kind of event, or the call is refused."""

import itertools

import numpy as np
import pytest

import topicloom as tl
from topicloom.churn import read_state
from topicloom.errors import (
    InvalidEventError,
    InvalidLinksError,
    InvalidOptionError,
    OverlayFormatError,
    StateFormatError,
)
from topicloom.model import ForbiddenLinks

LETTERS = "abcdefghijkl"


def drawn(seed: int) -> tuple[tl.Interest, ForbiddenLinks]:
    """A random interest of twelve nodes, with pairs and rules that leave every topic connected."""
    rng = np.random.default_rng(seed)
    rows = [(node, topic) for node in LETTERS for topic in "stuvw" if rng.random() < 0.6]
    interest = tl.Interest.from_pairs(*zip(*rows))
    while True:
        pairs = [pair for pair in itertools.combinations(LETTERS, 2) if rng.random() < 0.25]
        silent, closed = (frozenset(rng.choice(list(LETTERS), 3).tolist()) for _ in range(2))
        forbidden = ForbiddenLinks(pairs, silent, closed - silent)
        if tl.design(interest, forbid=forbidden).verify().ok:
            return interest, forbidden


def used(overlay: tl.Overlay, forbidden: ForbiddenLinks) -> list[tuple[str, str]]:
    """Forbidden links of an overlay, by the definition."""
    names = overlay.interest.node_label

    def allowed(u: str, v: str) -> bool:
        dialled = (u not in forbidden.no_dial and v not in forbidden.no_accept) or (
            v not in forbidden.no_dial and u not in forbidden.no_accept
        )
        return dialled and (min(u, v), max(u, v)) not in forbidden.pairs

    links = [(names(u), names(v)) for u, v in overlay.links.tolist()]
    return [link for link in links if not allowed(*link)]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_forbidden_is_told_alike_by_pair_by_ids_by_links_and_by_groups(seed):
    interest, forbidden = drawn(seed)
    mesh = tl.design(interest, "full-mesh")
    expected = used(mesh, forbidden)
    names = [interest.node_label(v) for v in range(interest.n_nodes)]
    assert [tuple(names[v] for v in link) for link in forbidden.used(interest, mesh.links).tolist()] == expected
    every = [pair for pair in itertools.combinations(names, 2) if forbidden.forbids(*pair)]
    assert sorted(tuple(sorted(names[v] for v in pair)) for pair in forbidden.among(interest).tolist()) == every
    assert set(expected) <= set(every)
    assert all(forbidden.allowed(u, set(names)) == {v for v in names if v != u and (u, v) not in every
               and (v, u) not in every} for u in names)  # fmt: skip
    assert forbidden.groups(names[:6]) == forbidden.groups(reversed(names[:6]))


def test_groups_are_the_components_of_what_is_allowed():
    forbidden = ForbiddenLinks(itertools.product("ab", "cd"), no_dial={"e"}, no_accept={"e"})
    assert forbidden.groups("abcde") == [["a", "b"], ["c", "d"], ["e"]]
    assert ForbiddenLinks().groups("ab") == [["a", "b"]] and not ForbiddenLinks()
    assert ForbiddenLinks([("a", "a")]).pairs == frozenset()


@pytest.mark.parametrize("pair", ["ab", ("a",), ("a", "b", "c"), ("a", 1), 7])
def test_what_is_no_pair_of_names_is_refused(pair):
    with pytest.raises(InvalidLinksError, match="forbidden"):
        ForbiddenLinks([pair])


def test_an_overlay_cannot_have_a_link_that_it_forbids():
    interest = tl.Interest.from_pairs(list("abc"), ["t"] * 3)
    with pytest.raises(InvalidLinksError, match="1 links are forbidden, such as 'a' – 'b'"):
        tl.Overlay(interest, np.array([(0, 1)]), forbidden=ForbiddenLinks([("b", "a")]))


@pytest.mark.parametrize("seed", range(4))
def test_refinement_and_files_keep_what_is_forbidden(seed, tmp_path):
    interest, forbidden = drawn(seed)
    overlay = tl.design(interest, "minmax-oda", forbid=forbidden)
    better = tl.refine(overlay, effort=40, seed=seed)
    assert used(better, forbidden) == [] and better.forbidden == forbidden and better.verify().ok
    better.save(tmp_path / "o")
    assert tl.Overlay.load(tmp_path / "o").forbidden == forbidden
    shutil_part = tmp_path / "o" / "forbidden"
    for path in shutil_part.iterdir():
        path.unlink()
    shutil_part.rmdir()
    with pytest.raises(OverlayFormatError, match="forbidden"):
        tl.Overlay.load(tmp_path / "o")


def test_refinement_at_k_2_keeps_what_is_forbidden():
    interest = tl.Interest.from_pairs([n for n in LETTERS for _ in "tu"], list("tu") * len(LETTERS))
    forbidden = ForbiddenLinks(itertools.combinations(LETTERS[:4], 2))
    better = tl.refine(tl.design(interest, "gm2", forbid=forbidden), effort=40)
    assert used(better, forbidden) == [] and better.verify(2).ok


@pytest.mark.parametrize("policy", ["shadow", "naive", "rebuild"])
@pytest.mark.parametrize("seed", range(5))
def test_no_event_brings_a_forbidden_link_back(policy, seed, tmp_path):
    interest, forbidden = drawn(seed)
    start = tl.design(interest, forbid=forbidden)
    rng = np.random.default_rng(seed)
    release = 2 if policy == "shadow" else 0
    plain = tl.Maintainer(interest, start, policy=policy, release=release, seed=seed)
    kept = tl.Maintainer.open(
        tmp_path / "state.db", interest=interest, overlay=start, policy=policy, release=release, seed=seed
    )
    refused = applied = 0
    for _ in range(60):
        node = str(rng.choice(list(LETTERS)))
        there = plain.interest.node_labels.tolist()
        topics = sorted(set(rng.choice(list("stuvw"), 3).tolist()))
        event = {"event": "join", "node": node, "topics": topics}
        if node in there:
            wanted = plain.interest.topics_of(node)
            more = [topic for topic in topics if topic not in wanted]
            event = {"event": "leave", "node": node}
            if rng.random() < 0.5:
                kind = "subscribe" if more else "unsubscribe"
                event = {"event": kind, "node": node, "topics": more or topics[:1]}
        try:
            plain.apply([event])
            applied += 1
        except InvalidEventError as error:
            assert "is forbidden" in str(error), error
            refused += 1
            continue
        kept.apply([event])
        assert used(plain.overlay, forbidden) == [] and plain.overlay.verify().ok
        if applied % 10 == 0:
            kept.close()
            assert read_state(tmp_path / "state.db").overlay.forbidden == forbidden
            kept = tl.Maintainer.open(tmp_path / "state.db")
        assert kept.overlay == plain.overlay and kept.overlay.forbidden == forbidden
    kept.close()
    assert applied > 20 and (policy != "shadow" or seed or refused)


def test_repairs_look_beyond_the_shadows_where_these_may_not_be_linked():
    nodes = list("abcdef")
    interest = tl.Interest.from_pairs(nodes, ["t"] * 6)
    forbidden = ForbiddenLinks([*itertools.product("ab", "cd")])
    links = [("a", "b"), ("a", "e"), ("e", "c"), ("c", "d"), ("d", "f")]
    overlay = tl.Overlay(interest, tl.Overlay.from_links(interest, links).links, forbidden=forbidden)
    m = tl.Maintainer(interest, overlay, coverage=1)
    m.leave("e")
    assert m.overlay.verify().ok and used(m.overlay, forbidden) == []
    with pytest.raises(InvalidEventError, match=r"node 'f' cannot leave: topic 't' cannot be connected: every link"):
        m.leave("f")
    change = m.apply([{"event": "leave", "node": "f"}, {"event": "leave", "node": "a"}], strict=False)
    assert [rejected.event["node"] for rejected in change.rejected] == ["f"] and change.events == 1


def test_what_cannot_keep_off_forbidden_links_refuses_by_name():
    interest = tl.Interest.from_pairs(list("abcd"), ["t"] * 4)
    overlay = tl.design(interest, "gm2", forbid=[("a", "b")])
    for options, name in (({"k": 2}, "k = 2"), ({"k": 1, "rebalance": 1.5}, "rebalance")):
        with pytest.raises(InvalidOptionError, match=f"{name} does not keep off forbidden links"):
            tl.Maintainer(interest, overlay, **options)
    other = tl.design(tl.Interest.from_pairs(list("xy"), ["t"] * 2))
    for method in ("star-merge", "naive-merge"):
        with pytest.raises(InvalidOptionError, match="join does not keep off forbidden links"):
            tl.join([other, overlay], method=method)
    digests = [tl.topic_digest(o.interest, salt="s", site=s) for o, s in ((overlay, "h"), (other, "t"))]
    with pytest.raises(InvalidOptionError, match="forbidden links"):
        tl.star_set(overlay, others=digests, site="h")
    with pytest.raises(InvalidOptionError, match="simulate_leaves"):
        tl.simulate_leaves(interest, overlay, ["a"])


def test_a_state_that_was_edited_to_have_a_forbidden_link_is_refused(tmp_path, monkeypatch):
    interest = tl.Interest.from_pairs(list("abcd"), ["t"] * 4)
    overlay = tl.design(interest, forbid=[("a", "b")])
    tl.Maintainer.open(tmp_path / "s.db", interest=interest, overlay=overlay).close()
    monkeypatch.setattr(ForbiddenLinks, "from_json", lambda text: ForbiddenLinks(itertools.combinations("abcd", 2)))
    for look in (tl.Maintainer.open, read_state):
        with pytest.raises(StateFormatError, match="3 of its links are forbidden"):
            look(tmp_path / "s.db")


def test_auto_chooses_among_methods_that_keep_off_forbidden_links():
    interest = tl.Interest.from_pairs(list("abcd"), ["t"] * 4)
    overlay = tl.design(interest, "auto", forbid=[("a", "b")])
    assert overlay.method == "weighted-gm" and used(overlay, overlay.forbidden) == [] and overlay.forbidden
