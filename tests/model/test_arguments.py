"""What is not what a function takes is a sentence: of an error of topicloom's that is also Python's own."""

import copy
import math
import pickle

import numpy as np
import pytest

import topicloom as tl
from topicloom.errors import InvalidArgumentError, InvalidInterestError, InvalidLinksError, InvalidOptionError

FACTORY = tl.datasets.example()
OVERLAY = tl.ring_per_topic(FACTORY)
LINKS = OVERLAY.links


@pytest.mark.parametrize("wrong", ["subs.csv", None, 3, [("a", "x")], {"a": ["x"]}, OVERLAY])
def test_anything_but_an_interest_is_refused_by_kind(wrong):
    """U2."""
    for call in (
        lambda: tl.design(wrong),
        lambda: tl.verify(wrong, LINKS),
        lambda: tl.measure(wrong, LINKS),
        lambda: tl.drill(wrong, LINKS, fail=[0]),
        lambda: tl.random_drills(wrong, LINKS),
        lambda: tl.weak_nodes(wrong, LINKS),
        lambda: tl.soc(wrong, LINKS, d=1, C=1),
        lambda: tl.Overlay(wrong, LINKS),
        lambda: tl.join([(wrong, LINKS), (FACTORY, LINKS)]),
        lambda: tl.Maintainer(wrong, OVERLAY),
        *(lambda spec=spec: spec.function(wrong) for spec in tl.METHODS.values()),
        lambda: tl.greedy_merge(wrong),
    ):
        with pytest.raises(TypeError, match=r"an Interest, as Interest\.from_pairs makes it") as caught:
            call()
        assert isinstance(caught.value, tl.TopicloomError) and isinstance(caught.value, ValueError)
        assert type(wrong).__name__ in str(caught.value)


def test_other_arguments_of_a_wrong_kind_are_sentences():
    with pytest.raises(InvalidOptionError, match="there is no method"):
        tl.design(FACTORY, ["gm"])
    with pytest.raises(InvalidArgumentError, match="fail is int; a list"):
        tl.drill(FACTORY, LINKS, fail=3)
    with pytest.raises(InvalidArgumentError, match=r"an Overlay, as tl\.design makes it"):
        tl.Maintainer(FACTORY, LINKS)
    with pytest.raises(InvalidInterestError, match="node column"):
        tl.Interest.from_pairs([2**64], ["x"])
    for links in ("ab", None, 3, [(0, 1), (2,)], [("crane", "gate", "x")]):
        with pytest.raises(InvalidLinksError):
            tl.verify(FACTORY, links)


@pytest.mark.parametrize("labels", [[None, "b"], [math.nan, "b"], [object(), "b"], ["", "b"], ["b", "b"], ["a"], 3])
def test_labels_that_cannot_be_are_refused(labels):
    """U3."""
    with pytest.raises(InvalidInterestError):
        tl.Interest.from_csr([0, 1, 2], [0, 0], 1, node_labels=labels)


def test_a_k_above_all_topics_gives_cliques_at_once():
    """U3: it had built a list of k / 2 steps."""
    overlay = tl.stacked_greedy_merge(FACTORY, k=2**31)
    assert tl.verify(FACTORY, overlay.links, k=2**31).ok and overlay.options == {"k": 2**31}


def test_checked_values_are_kept_as_numbers_of_python(tmp_path):
    """U3."""
    overlay = tl.Overlay(
        FACTORY, LINKS, "given", {"k": np.int64(2), "rho": np.float32(1.5), "x": np.True_}, np.int64(7)
    )
    assert [type(value) for value in (*overlay.options.values(), overlay.seed)] == [int, float, bool, int]
    with pytest.raises(InvalidOptionError, match="seed"):
        tl.Overlay(FACTORY, LINKS, seed=-1)
    infinite = tl.Overlay(FACTORY, LINKS, "low-oda", {"rho": math.inf})
    infinite.save(tmp_path / "o")
    assert tl.Overlay.load(tmp_path / "o").options == {"rho": math.inf}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_interests_and_overlays_survive_copies_and_pickles(again):
    """Defect 15."""
    bare = tl.Interest.from_csr([0, 1, 2], [0, 0], 3)
    overlay = tl.Overlay(FACTORY, LINKS, "low-oda", {"rho": 2.0}, 3, {"stars": [1, 2]})
    for value in (FACTORY, bare, overlay):
        twin = again(value)
        assert twin == value and hash(twin) == hash(value) and repr(twin) == repr(value)
    twin = again(overlay)
    assert (twin.method, twin.options, twin.seed, twin.report) == ("low-oda", {"rho": 2.0}, 3, {"stars": [1, 2]})
    assert not twin.links.flags.writeable and not twin.interest.topics.flags.writeable
    assert not twin.interest.node_labels.flags.writeable
    assert twin.verify().ok


def test_overlays_are_equal_by_interest_and_set_of_links():
    assert tl.Overlay(FACTORY, LINKS[::-1], "other", seed=9) == OVERLAY
    assert hash(tl.Overlay(FACTORY, LINKS[::-1])) == hash(OVERLAY)
    assert tl.Overlay(FACTORY, LINKS[1:]) != OVERLAY
    assert tl.Overlay(FACTORY, [(0, 1)]) != tl.Overlay(FACTORY, [(0, 2)])
    assert OVERLAY != "overlay" and FACTORY != 3


def test_interests_are_equal_by_subscriptions_and_labels():
    pairs = [("a", "x"), ("b", "x"), ("b", "y")]
    one, same = (tl.Interest.from_pairs(*zip(*rows)) for rows in (pairs, [*pairs[::-1], pairs[0]]))
    assert one == same and hash(one) == hash(same) and len({one, same}) == 1
    assert one != tl.Interest.from_pairs(["a", "b", "c"], ["x", "x", "y"])
    bare = tl.Interest.from_csr(one.indptr, one.topics, one.n_topics)
    assert one != bare and bare == tl.Interest.from_csr(one.indptr, one.topics, one.n_topics)
    assert bare != tl.Interest.from_csr(one.indptr, one.topics, one.n_topics + 1)
    assert one != tl.Interest.from_csr(one.indptr, one.topics, 2, node_labels=["a", "c"], topic_labels=["x", "y"])
