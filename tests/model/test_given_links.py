"""Links by label or by id, in every shape that people have."""

import networkx
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import topicloom as tl
from topicloom.errors import InvalidLinksError
from topicloom.model.arrays import normalized_links
from topicloom.model.given_links import link_ids

NAMED = tl.Interest.from_pairs(list("abca"), ["x", "x", "x", "y"])
NUMBERED = tl.Interest.from_csr([0, 1, 2, 3], [0, 0, 0], 1)
PAIRS = [("b", "a"), ("b", "c"), ("a", "b")]
SRC, DST = [a for a, _ in PAIRS], [b for _, b in PAIRS]


@pytest.mark.parametrize(
    "given",
    [
        PAIRS,
        tuple(PAIRS),
        iter(PAIRS),
        np.array(PAIRS),
        np.array(PAIRS, np.dtypes.StringDType()),
        np.array(PAIRS, object),
        {"src": SRC, "dst": DST},
        pa.table({"src": SRC, "dst": DST, "order": [0, 1, 2]}),
        pa.table({"src": pa.array(SRC).dictionary_encode(), "dst": DST}),
        pandas.DataFrame({"src": SRC, "dst": DST}),
        pandas.DataFrame({"src": pandas.Categorical(SRC), "dst": DST}),
        polars.DataFrame({"src": SRC, "dst": DST}),
        polars.DataFrame({"src": SRC, "dst": DST}, schema={"src": polars.Categorical, "dst": polars.String}),
        networkx.Graph(PAIRS),
        networkx.MultiDiGraph(PAIRS),
        tl.Overlay(NAMED, [(0, 1), (1, 2)]),
        tl.Overlay(tl.Interest.from_pairs(list("bcaz"), ["x", "x", "x", "x"]), [(0, 1), (1, 2)]),
        [(1, 0), (1, 2)],
        np.array([(1, 0), (1, 2)]),
    ],
)
def test_every_shape_of_the_same_links(given):
    assert sorted(link_ids(NAMED, given).tolist()) == [[0, 1], [1, 2]]


def test_the_order_of_links_is_kept():
    assert link_ids(NAMED, [("c", "b"), ("a", "b")]).tolist() == [[1, 2], [0, 1]]


@pytest.mark.parametrize("given", [[], np.empty((0, 2)), {"src": [], "dst": []}, networkx.Graph()])
def test_no_links(given):
    assert link_ids(NAMED, given).shape == (0, 2)


def test_integers_are_ids_where_there_are_no_labels():
    for given in ({"src": [1], "dst": [0]}, networkx.Graph([(0, 1)]), pandas.DataFrame({"src": [1], "dst": [0]})):
        assert link_ids(NUMBERED, given).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("interest", "given", "sentence"),
    [
        (
            NAMED,
            pa.table({"src": [0], "dst": [1]}),
            "text is a label and an integer is an id; this table holds integers",
        ),
        (NAMED, polars.DataFrame({"src": [0], "dst": [1]}), "this table holds integers"),
        (NAMED, polars.DataFrame({"src": ["a"], "dst": [None]}), "null end"),
        (NAMED, networkx.Graph([(0, 1)]), "this graph holds integers, and the interest has labels"),
        (NAMED, [("a", "nobody"), ("a", "none")], "2 nodes that are not in the subscriptions, such as 'nobody'"),
        (NAMED, [("a", "a")], "with itself"),
        (NAMED, [("a", None)], "null end"),
        (NAMED, [("a", 1)], "an integer is an id"),
        (NAMED, [("a", "b", "c")], "3 ends, not two"),
        (NAMED, {"from": ["a"], "to": ["b"]}, "has columns src and dst; this one has from, to"),
        (NAMED, {"src": [1.5], "dst": ["b"]}, "holds double and text"),
        (NUMBERED, PAIRS, "the interest has no labels"),
        (NUMBERED, tl.Overlay(NAMED, [(0, 1)]), "no labels by which to match"),
    ],
)
def test_what_cannot_be_meant_is_refused(interest, given, sentence):
    with pytest.raises(InvalidLinksError, match=sentence):
        link_ids(interest, given)


def test_links_are_normalized_once():
    links = normalized_links([(1, 0), (2, 1), (0, 1)], 3)
    assert links.tolist() == [[0, 1], [1, 2]]
    assert normalized_links(links, 3) is links
    overlay = tl.Overlay(tl.Interest.from_pairs(["a", "b", "c"], ["news"] * 3), links)
    assert overlay.links is links
    assert link_ids(overlay.interest, overlay) is links


def test_links_that_were_changed_or_are_for_fewer_nodes_are_checked_again():
    links = normalized_links([(0, 1), (1, 2)], 3)
    with pytest.raises(InvalidLinksError, match="range"):
        normalized_links(links, 2)
    links.setflags(write=True)
    links[0] = (1, 1)
    with pytest.raises(InvalidLinksError, match="itself"):
        normalized_links(links, 3)
