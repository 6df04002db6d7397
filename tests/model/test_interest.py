import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given

import topicloom as tl
from topicloom.errors import InvalidInterestError

labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6).filter(
    lambda text: text.strip(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0") and not all(c.isspace() for c in text)
)
pairs = st.lists(st.tuples(labels, labels), max_size=30)


@given(pairs)
def test_from_pairs_keeps_exactly_the_given_subscriptions(given_pairs):
    interest = tl.Interest.from_pairs([node for node, _ in given_pairs], [topic for _, topic in given_pairs])
    kept = [(interest.node_label(v), interest.topic_label(t)) for v, t in zip(interest.nodes, interest.topics)]
    assert sorted(kept) == sorted(set(given_pairs))


@given(pairs)
def test_ids_follow_utf8_byte_order(given_pairs):
    interest = tl.Interest.from_pairs([node for node, _ in given_pairs], [topic for _, topic in given_pairs])
    names = interest.node_labels.tolist()
    assert names == sorted(names, key=str.encode)


@given(pairs)
def test_both_orientations_hold_the_same(given_pairs):
    interest = tl.Interest.from_pairs([node for node, _ in given_pairs], [topic for _, topic in given_pairs])
    by_node = {(v, int(t)) for v in range(interest.n_nodes) for t in interest.topics_of(v)}
    by_topic = {(int(v), t) for t in range(interest.n_topics) for v in interest.subscribers(t)}
    assert by_node == by_topic
    assert all((np.diff(interest.topics_of(v)) > 0).all() for v in range(interest.n_nodes))
    assert all((np.diff(interest.subscribers(t)) > 0).all() for t in range(interest.n_topics))


@pytest.mark.parametrize(
    "column",
    [
        [10, 9, 9],
        ["10", "9", "9"],
        np.array([10, 9, 9]),
        np.array(["10", "9", "9"]),
        np.array(["10", "9", "9"], dtype=np.dtypes.StringDType()),
        np.array(["10", "9", "9"], dtype=object),
        pd.Series([10, 9, 9]),
        pd.Series(["10", "9", "9"]),
        pd.Series(["10", "9", "9"], dtype="category"),
        pd.Series([10, 9, 9], dtype="Int64"),
        pa.array([10, 9, 9]),
        pa.chunked_array([["10"], ["9", "9"]]),
        pa.array(["10", "9", "9"]).dictionary_encode(),
        iter(["10", "9", "9"]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_numbers_and_strings_of_any_column_type_are_the_same_labels(column):
    interest = tl.Interest.from_pairs(column, ["a", "b", "a"])
    assert interest.node_labels.tolist() == ["10", "9"]
    assert interest.topics.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("nodes", "topics", "sentence"),
    [
        (["a", None], ["x", "y"], "node of row 1 is null"),
        (["a", "b"], ["x", " \u2003"], "topic of row 1 is blank"),
        ([1.5], ["x"], "double; strings and integers are accepted"),
        ([["a"]], ["x"], "strings and integers are accepted"),
        (["a", "\ud800"], ["x", "y"], "not valid Unicode"),
        (["a", "b"], ["x"], "2 nodes but 1 topics"),
        ([None], ["x"], "node of row 0 is null"),
        ([{}], ["x"], "accepted"),
        (np.zeros((2, 2)), ["x"], "one dimension"),
        ([True], ["x"], "bool; strings and integers are accepted"),
    ],
)
def test_columns_that_are_not_labels_are_refused_with_the_reason(nodes, topics, sentence):
    with pytest.raises(InvalidInterestError, match=sentence):
        tl.Interest.from_pairs(nodes, topics)


def test_labels_are_kept_as_they_are():
    given = [" a ", "A", "a", "e\u0301", "é", "line\nbreak", "\x00", "x" * 65_536]
    interest = tl.Interest.from_pairs(given, ["t"] * len(given))
    assert set(interest.node_labels.tolist()) == set(given)


@pytest.mark.parametrize(
    ("label", "why"), [("x" * 65_537, "over 64 KiB"), ("é" * 32_769, "over 64 KiB"), ("\u2003", "blank")]
)
def test_labels_that_no_reader_takes_are_refused(label, why):
    with pytest.raises(tl.errors.InvalidInterestError, match=f"topic of row 1 is {why}"):
        tl.Interest.from_pairs(["a", "b"], ["t", label])


def test_empty_columns_make_an_empty_interest():
    interest = tl.Interest.from_pairs([], [])
    assert (interest.n_nodes, interest.n_topics, interest.n_subscriptions) == (0, 0, 0)
    assert interest.topic_indptr.tolist() == [0]


def test_arrays_are_read_only():
    interest = tl.Interest.from_pairs(["a", "b"], ["x", "x"])
    for array in (interest.indptr, interest.topics, interest.topic_indptr, interest.topic_nodes, interest.node_labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


def test_from_csr_keeps_the_ids_and_merges_repeats():
    interest = tl.Interest.from_csr([0, 2, 2, 5], [3, 1, 0, 0, 3], 5)
    assert (interest.n_nodes, interest.n_topics, interest.n_subscriptions) == (3, 5, 4)
    assert interest.topics.tolist() == [1, 3, 0, 3]
    assert interest.indptr.dtype == np.int64 and interest.topics.dtype == np.int32
    assert interest.node_labels is None and interest.node_label(2) == "2"


@pytest.mark.parametrize(
    ("indptr", "topics", "n_topics"),
    [([], [], 1), ([0, 2], [0], 1), ([1, 1], [0], 1), ([0, 2, 1], [0], 1), ([0, 1], [1], 1), ([0, 1], [-1], 1),
     ([0, 1], [0.5], 1), ([0], [], -1), ([0], [], 1.5), ([[0]], [], 1)],
)  # fmt: skip
def test_from_csr_refuses_what_is_not_csr(indptr, topics, n_topics):
    with pytest.raises(InvalidInterestError):
        tl.Interest.from_csr(indptr, topics, n_topics)


def test_from_csr_checks_the_number_of_labels():
    with pytest.raises(InvalidInterestError, match="2 node labels for 1 nodes"):
        tl.Interest.from_csr([0, 1], [0], 1, node_labels=["a", "b"])


@given(pairs.filter(len), st.data())
def test_restriction_keeps_the_chosen_rows(given_pairs, data):
    interest = tl.Interest.from_pairs([node for node, _ in given_pairs], [topic for _, topic in given_pairs])
    chosen = data.draw(st.lists(st.integers(0, interest.n_nodes - 1), unique=True))
    part = interest.restrict(chosen)
    assert part.n_topics == interest.n_topics
    for i, v in enumerate(sorted(chosen)):
        assert part.node_label(i) == interest.node_label(v)
        assert part.topics_of(i).tolist() == interest.topics_of(v).tolist()


def test_restriction_refuses_unknown_nodes():
    with pytest.raises(InvalidInterestError, match=r"range\(1\)"):
        tl.Interest.from_pairs(["a"], ["x"]).restrict([1])


def test_a_million_nodes_and_twenty_million_subscriptions_fit_in_arrays():
    """Without Python objects per element: the arrays alone, 4 bytes a subscription and 8 a node."""
    n, s = 1_000_000, 20
    topics = (100 * np.arange(s, dtype=np.int32) + np.arange(n, dtype=np.int32)[:, None] % 100).ravel()
    interest = tl.Interest.from_csr(np.arange(0, n * s + 1, s), topics, 2000)
    assert interest.n_subscriptions == n * s
    assert interest.topics.nbytes == 4 * n * s and interest.indptr.nbytes == 8 * (n + 1)
    overlay = tl.Overlay(interest, np.column_stack((np.arange(n - 1), np.arange(1, n))).astype(np.int32))
    assert overlay.degree().sum() == 2 * (n - 1)
