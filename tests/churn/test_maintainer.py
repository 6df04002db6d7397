"""The overlay is judged after every event; backups cover and primaries mirror."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import topicloom as tl
from support.churn_checks import check, interest_of, link_labels, maintained
from topicloom.errors import InvalidEventError, InvalidLinksError, InvalidOptionError, NotTopicConnectedError

TOPICS = [f"t{i}" for i in range(6)]
NODES = [f"n{i}" for i in range(9)]
some_topics = st.sets(st.sampled_from(TOPICS), max_size=5)


class Churn(RuleBasedStateMachine):
    @initialize(
        model=st.dictionaries(st.sampled_from(NODES), some_topics, min_size=1),
        policy=st.sampled_from(["shadow", "shadow", "shadow", "naive", "rebuild"]),
        backups=st.sampled_from(["primal-dual", "greedy"]),
        coverage=st.integers(1, 4),
        k=st.sampled_from([1, 1, 2, 3]),
        seed=st.integers(0, 3),
        release=st.sampled_from([0, 0, 2]),
    )
    def start(self, model, policy, backups, coverage, k, seed, release):
        self.k = min(k, {"shadow": 3, "naive": 1, "rebuild": 2}[policy])
        interest = interest_of(model)
        overlay = tl.harary_per_topic(interest, k=self.k)
        self.model = model
        self.release = release if policy == "shadow" and self.k == 1 else 0
        self.m = tl.Maintainer(
            interest, overlay, policy, backups, max(coverage, self.k), 3, self.k, seed, release=self.release
        )

    def ends(self, change, before):
        links = link_labels(self.m)
        assert links == (before - set(change.removed)) | set(change.added)
        assert not set(change.removed) & set(change.added)
        assert set(change.removed) <= before and not set(change.added) & before

    @rule(node=st.sampled_from(NODES), topics=some_topics)
    def join(self, node, topics):
        if node in self.model:
            with pytest.raises(InvalidEventError, match="already there"):
                self.m.join(node, topics)
            return
        before = link_labels(self.m)
        change = self.m.join(node, topics)
        self.model[node] = set(topics)
        self.ends(change, before)
        if self.m.options["policy"] != "rebuild":
            assert not change.removed and all(node in link for link in change.added)

    @rule(node=st.sampled_from(NODES))
    def leave(self, node):
        if node not in self.model:
            with pytest.raises(InvalidEventError, match="no node"):
                self.m.leave(node)
            return
        before = link_labels(self.m)
        change = self.m.leave(node)
        del self.model[node]
        self.ends(change, before)
        if self.m.options["policy"] != "rebuild":
            spare = set(change.removed) - {link for link in before if node in link}
            assert not [link for link in before if node in link and link not in change.removed]
            assert len(spare) <= self.release

    @rule(node=st.sampled_from(NODES), topics=some_topics)
    def subscribe(self, node, topics):
        topics = topics - self.model.get(node, set())
        if node not in self.model or not topics:
            with pytest.raises(InvalidEventError):
                self.m.subscribe(node, topics)
            return
        before = link_labels(self.m)
        self.ends(self.m.subscribe(node, topics), before)
        self.model[node] |= topics

    @rule(node=st.sampled_from(NODES), topics=some_topics)
    def unsubscribe(self, node, topics):
        topics = topics & self.model.get(node, set())
        if node not in self.model or not topics:
            with pytest.raises(InvalidEventError):
                self.m.unsubscribe(node, topics)
            return
        before = link_labels(self.m)
        self.ends(self.m.unsubscribe(node, topics), before)
        self.model[node] -= topics

    @rule(data=st.data())
    def batch(self, data):
        events = data.draw(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "event": st.sampled_from(["join", "leave", "leave", "subscribe", "unsubscribe", "dance"]),
                        "node": st.sampled_from([*NODES, " "]),
                        "topics": st.lists(st.sampled_from([*TOPICS, ""]), max_size=3),
                    }
                ),
                max_size=8,
            )
        )
        before = link_labels(self.m)
        change = self.m.apply(events, strict=False)
        bad = [rejection.event for rejection in change.rejected]
        assert change.events + len(bad) == len(events)
        for event in events:
            if any(event is other for other in bad):
                continue
            topics, node = set(event["topics"]), event["node"]
            if event["event"] == "join":
                assert node not in self.model
                self.model[node] = topics
            elif event["event"] == "leave":
                del self.model[node]
            elif event["event"] == "subscribe":
                assert not self.model[node] & topics
                self.model[node] |= topics
            else:
                assert topics <= self.model[node]
                self.model[node] -= topics
        self.ends(change, before)

    @invariant()
    def judged(self):
        if hasattr(self, "m"):
            check(self.m, self.model, self.k)


class ChurnOften(Churn):
    """Nothing but k >= 2, few topics, a coverage that just suffices: topics are cliques one moment and not the next."""

    @initialize(
        model=st.dictionaries(st.sampled_from(NODES), st.sets(st.sampled_from(TOPICS[:3]), max_size=3), min_size=1),
        backups=st.sampled_from(["primal-dual", "greedy"]),
        k=st.sampled_from([2, 2, 3]),
        seed=st.integers(0, 3),
    )
    def start(self, model, backups, k, seed):
        self.k, self.model, self.release = k, model, 0
        interest = interest_of(model)
        overlay = tl.harary_per_topic(interest, k=k)
        self.m = tl.Maintainer(interest, overlay, "shadow", backups, k, 3, k, seed)


Churn.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
ChurnOften.TestCase.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
TestChurn = Churn.TestCase
TestChurnOften = ChurnOften.TestCase


@pytest.mark.parametrize(("policy", "k"), [("shadow", 1), ("shadow", 2), ("naive", 1), ("rebuild", 1)])
def test_everybody_leaves_and_comes_back(policy, k):
    m, model = maintained(policy=policy, k=k)
    everybody = dict(model)
    for node in sorted(everybody, key=lambda node: hash((node, 1)) if policy == "naive" else node):
        m.leave(node)
        del model[node]
        check(m, model, k)
    assert m.interest.n_nodes == m.interest.n_topics == m.overlay.n_links == 0
    for node, topics in everybody.items():
        m.join(node, topics)
        model[node] = set(topics)
        check(m, model, k)


@pytest.mark.parametrize("k", [1, 2])
def test_the_node_with_most_links_leaves_again_and_again(k):
    m, model = maintained(k=k)
    for _ in range(30):
        node = m.interest.node_label(int(np.argmax(m.overlay.degree())))
        change = m.leave(node)
        assert len(change.removed) > 1
        del model[node]
        check(m, model, k)


def test_a_hub_of_everybody_leaves():
    interest = tl.generate(nodes=300, topics=10, subscriptions=3, seed=2)
    rows = [interest.topics_of(v).tolist() for v in range(300)] + [list(range(10))]
    wide = tl.Interest.from_csr(np.cumsum([0, *map(len, rows)]), np.concatenate(rows), 10)
    m = tl.Maintainer(wide, tl.Overlay(wide, np.array([(v, 300) for v in range(300)])))
    change = m.leave("300")
    assert len(change.removed) == 300
    assert tl.verify(m.interest, m.overlay.links).ok


def test_the_last_node_of_a_topic_leaves():
    m, model = maintained()
    m.join("only", ["nobody else's", "t00"])
    assert "nobody else's" in m.interest.topic_labels.tolist()
    m.leave("only")
    check(m, model)
    assert "nobody else's" not in m.interest.topic_labels.tolist()
    m.join("only", ["nobody else's"])
    m.unsubscribe("only", ["nobody else's"])
    check(m, {**model, "only": set()})


def test_the_same_node_leaves_and_joins_in_one_batch():
    m, model = maintained()
    change = m.apply([{"event": "leave", "node": "n00"}, {"event": "join", "node": "n00", "topics": ["t01"]}])
    model["n00"] = {"t01"}
    check(m, model)
    assert not set(change.added) & set(change.removed)


def test_a_join_with_ten_thousand_topics():
    m, model = maintained()
    topics = {f"rare {i}" for i in range(9_985)} | {f"t{i:02}" for i in range(15)}
    m.join("hungry", topics)
    m.join("twin", topics)
    check(m, {**model, "hungry": topics, "twin": topics})
    m.leave("hungry")
    check(m, {**model, "twin": topics})


@pytest.mark.parametrize("k", [1, 2])
def test_several_nodes_fail_at_once_and_none_of_them_is_asked(k):
    m, model = maintained(k=k)
    failed = [f"n{v:02}" for v in range(0, 60, 3)]
    change = m.apply([{"event": "leave", "node": node} for node in failed])
    assert not {end for link in change.added for end in link} & set(failed)
    assert change.events == 20
    check(m, {node: topics for node, topics in model.items() if node not in failed}, k)


@pytest.mark.parametrize("k", [1, 2])
def test_a_node_fails_together_with_all_its_neighbours_and_backups(k):
    m, model = maintained(k=k)
    near = {end for link in link_labels(m) if "n07" in link for end in link}
    failed = sorted(near | set(m.backups_of("n07")))
    assert len(failed) > 10
    m.apply([{"event": "leave", "node": node} for node in failed])
    check(m, {node: topics for node, topics in model.items() if node not in failed}, k)


@pytest.mark.parametrize("policy", ["shadow", "naive", "rebuild"])
def test_everybody_fails_at_once(policy):
    m, model = maintained(policy=policy)
    change = m.apply([{"event": "leave", "node": node} for node in model])
    assert change.events == len(model) and not change.added
    check(m, {})
    m.join("first", ["t00"])
    assert m.join("second", ["t00"]).added == (("first", "second"),)


def test_a_batch_applies_by_time_and_id():
    m, model = maintained()
    m.apply(
        [
            {"event": "leave", "node": "x", "at": "2026-01-02", "id": 10},
            {"event": "join", "node": "x", "topics": ["t01"], "at": "2026-01-01T23:00:00-02:00", "id": 3},
            {"event": "subscribe", "node": "x", "topics": ["t02"], "at": "2026-01-02", "id": 9},
            {"event": "join", "node": "y", "topics": ["t03"]},
        ],
        strict=False,
    )
    model["y"] = {"t03"}
    # The join is at 01:00 UTC of 2 January, after the others: they find no x.
    check(m, {**model, "x": {"t01"}})


def test_a_strict_batch_is_applied_whole_or_not_at_all():
    m, model = maintained()
    with pytest.raises(InvalidEventError, match="no node 'nobody'"):
        m.apply([{"event": "leave", "node": "n01"}, {"event": "leave", "node": "nobody"}])
    check(m, model)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"event": "dance", "node": "a"}, "unknown kind of event 'dance'"),
        ({"event": "leave"}, "a node is None"),
        ({"event": "leave", "node": " "}, "a node is blank"),
        ({"event": "leave", "node": "nobody"}, "there is no node 'nobody'"),
        ({"event": "join", "node": "n01", "topics": []}, "already there"),
        ({"event": "join", "node": "x", "topics": ["a", ""]}, "a topic is empty"),
        ({"event": "join", "node": "x", "topics": "news"}, "topics is str"),
        ({"event": "join", "node": "x", "topics": ["\ud800"]}, "half a surrogate pair"),
        ({"event": "join", "node": "x", "topics": [], "at": "soon"}, "at is 'soon'"),
        ({"event": "join", "node": "x", "topics": [], "id": 1.5}, "id is 1.5"),
        ({"event": "subscribe", "node": "n01", "topics": []}, "no topic is named"),
        ({"event": "unsubscribe", "node": "n01", "topics": ["never"]}, "does not want topic 'never'"),
        ("leave", "an event is a mapping"),
    ],
)
def test_bad_events_say_what_is_wrong(event, reason):
    m, model = maintained()
    with pytest.raises(InvalidEventError, match=reason):
        m.apply([event])
    change = m.apply([event, {"event": "leave", "node": "n02"}], strict=False)
    assert change.events == 1 and reason in change.rejected[0].reason
    del model["n02"]
    check(m, model)


def test_same_events_and_seed_give_the_same_links():
    changes = []
    for _ in range(2):
        m, _ = maintained()
        changes.append([m.leave("n05").added, m.join("x", ["t01", "t02"]).added, m.leave("n17").added])
    assert changes[0] == changes[1]


def test_options_are_checked():
    interest = tl.generate(nodes=10, topics=3, subscriptions=2, seed=0)
    overlay = tl.low_oda(interest)
    for wrong in (
        {"policy": "hope"},
        {"backups": "many"},
        {"coverage": 0},
        {"rho": 0.5},
        {"k": 0},
        {"k": 4},
        {"policy": "naive", "k": 2},
        {"policy": "rebuild", "k": 3},
        {"seed": -1},
    ):
        with pytest.raises(InvalidOptionError):
            tl.Maintainer(interest, overlay, **wrong)
    with pytest.raises(NotTopicConnectedError, match="first 't"):
        tl.Maintainer(interest, tl.Overlay(interest, overlay.links[:1]))
    with pytest.raises(NotTopicConnectedError, match="2-topic-connected"):
        tl.Maintainer(interest, overlay, k=2)
    with pytest.raises(InvalidLinksError):
        tl.Maintainer(tl.generate(nodes=9, topics=3, subscriptions=2), overlay)


def test_old_names_of_the_maintainer_still_work_and_say_so():
    maintainer = tl.Maintainer(tl.datasets.example(), tl.low_oda(tl.datasets.example()))
    events = [{"event": "leave", "node": maintainer.interest.node_labels[0]}, {"event": "leave", "node": "nobody"}]
    accepted, rejected = maintainer.split_valid(events)
    assert (len(accepted), len(rejected)) == (1, 1)
    with pytest.warns(DeprecationWarning, match="split_valid"):
        assert maintainer.sift(events) == (accepted, rejected)
    with pytest.warns(DeprecationWarning, match="to_dict"):
        assert accepted[0].told() == accepted[0].to_dict() == {"event": "leave", "node": events[0]["node"]}
