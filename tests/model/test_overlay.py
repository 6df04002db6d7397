import json
import pickle

import hypothesis.strategies as st
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import topicloom as tl
from topicloom.errors import (
    InputNotFoundError,
    InvalidInterestError,
    InvalidLinksError,
    OutputExistsError,
    OverlayFormatError,
)
from topicloom.files.write.run_file import update_run
from topicloom.model.arrays import shared_topics


@pytest.fixture
def overlay():
    interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxyxzxz"))
    return tl.design(interest, "gm", seed=3)


def test_links_are_normalized():
    interest = tl.Interest.from_pairs(list("abc"), list("xxx"))
    overlay = tl.Overlay(interest, [[2, 0], [0, 1]])
    assert overlay.links.tolist() == [[0, 2], [0, 1]]
    assert overlay.links.dtype == np.int32
    assert not overlay.links.flags.writeable
    assert overlay.degree().tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("links", "sentence"),
    [([[0, 3]], r"range\(3\)"), ([[-1, 0]], r"range\(3\)"), ([[1, 1]], "with itself"), ([[0, 1], [1, 0]], "repeated"),
     ([0, 1], "shape"), ([[0.5, 1]], "float64"), ([[0, 1, 2]], "shape")],
)  # fmt: skip
def test_links_that_cannot_be_are_refused(links, sentence):
    with pytest.raises(InvalidLinksError, match=sentence):
        tl.Overlay(tl.Interest.from_pairs(list("abc"), list("xxx")), links)


def test_save_and_load_give_the_same_overlay(overlay, tmp_path):
    overlay.save(tmp_path / "o")
    loaded = tl.Overlay.load(tmp_path / "o")
    assert loaded.links.tolist() == overlay.links.tolist()
    assert loaded.interest.topics.tolist() == overlay.interest.topics.tolist()
    assert loaded.interest.node_labels.tolist() == overlay.interest.node_labels.tolist()
    assert (loaded.method, dict(loaded.options), loaded.seed) == ("gm", {}, 3)


@settings(max_examples=20, deadline=None)
@given(n_nodes=st.integers(0, 12), n_topics=st.integers(0, 5), seed=st.integers(0, 2**32))
def test_ids_survive_saving_and_loading(tmp_path_factory, n_nodes, n_topics, seed):
    """Also nodes and topics that nobody subscribes with, and ids whose text order is not their order (9 and 10)."""
    wanted = np.random.default_rng(seed).random((n_nodes, n_topics)) < 0.4
    topics = np.nonzero(wanted)[1]
    indptr = np.concatenate(([0], np.cumsum(wanted.sum(axis=1)))).astype(np.int64)
    overlay = tl.design(tl.Interest.from_csr(indptr, topics, n_topics), "ring-pt")
    folder = tmp_path_factory.mktemp("ids") / "o"
    overlay.save(folder)
    loaded = tl.Overlay.load(folder)
    assert loaded.interest.indptr.tolist() == overlay.interest.indptr.tolist()
    assert loaded.interest.topics.tolist() == overlay.interest.topics.tolist()
    assert loaded.interest.n_topics == n_topics and loaded.interest.node_labels is None
    assert loaded.links.tolist() == overlay.links.tolist()


def test_the_directory_has_the_contract_s_columns(overlay, tmp_path):
    overlay.save(tmp_path / "o")
    columns = {part.name: pq.read_table(part).column_names for part in (tmp_path / "o").iterdir() if part.is_dir()}
    assert columns == {
        "subscriptions": ["node", "topic"],
        "links": ["src", "dst", "shared_topics", "order"],
        "nodes": ["id", "topic_count", "degree"],
        "topics": ["topic", "subscribers", "links", "components", "diameter", "diameter_sampled"],
        "rejected": ["file", "line", "raw", "node", "topic", "reason"],
    }
    metrics = json.loads((tmp_path / "o" / "metrics.json").read_text())
    assert metrics == tl.measure(overlay.interest, overlay.links).to_dict()
    run = json.loads((tmp_path / "o" / "run.json").read_text())
    assert (run["format"], run["method"], run["seed"]) == (1, "gm", 3)


def test_saving_over_an_overlay_needs_consent(overlay, tmp_path):
    overlay.save(tmp_path / "o")
    with pytest.raises(OutputExistsError, match="exists"):
        overlay.save(tmp_path / "o")
    tl.design(overlay.interest, "ring-pt").save(tmp_path / "o", overwrite=True)
    assert tl.Overlay.load(tmp_path / "o").method == "ring-pt"
    assert [path.name for path in tmp_path.iterdir()] == ["o"]


def test_folders_that_are_no_overlays_are_refused(overlay, tmp_path):
    with pytest.raises(InputNotFoundError):
        tl.Overlay.load(tmp_path / "none")
    with pytest.raises(OverlayFormatError, match=r"run\.json"):
        tl.Overlay.load(tmp_path)
    overlay.save(tmp_path / "o")
    run = tmp_path / "o" / "run.json"
    run.write_text(run.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(OverlayFormatError, match="format 99"):
        tl.Overlay.load(tmp_path / "o")


def test_to_networkx_and_to_pandas_use_labels(overlay):
    graph = overlay.to_networkx()
    assert set(graph.nodes) == set("abcd")
    assert graph.number_of_edges() == overlay.n_links
    table = overlay.to_pandas()
    assert list(table.columns) == ["src", "dst", "shared_topics", "order"]
    for row in table.itertuples():
        assert graph.edges[row.src, row.dst]["shared_topics"] == row.shared_topics


@given(st.integers(0, 2**32))
def test_shared_topics_equal_set_intersections(seed):
    rng = np.random.default_rng(seed)
    nodes, topics = np.nonzero(rng.random((8, 6)) < 0.5)
    interest = tl.Interest.from_ids(nodes, topics, n_nodes=8, n_topics=6)
    links = np.array([(u, v) for u in range(8) for v in range(u + 1, 8) if rng.random() < 0.5], np.int32).reshape(-1, 2)
    expected = [len(set(interest.topics_of(u)) & set(interest.topics_of(v))) for u, v in links]
    assert shared_topics(interest, links).tolist() == expected


def test_roles_survive_a_directory_and_a_copy(tmp_path):
    nodes, topics = list("baacb"), list("xxyxx")
    interest = tl.Interest.from_pairs(nodes, topics, ["publish", None, "subscribe", None, "subscribe"])
    assert interest.roles.tolist() == [0, 2, 3, 0]  # two roles of b become both
    assert pickle.loads(pickle.dumps(interest)).roles.tolist() == [0, 2, 3, 0]
    assert interest.restrict([1]).roles.tolist() == [3]
    tl.ring_per_topic(interest).save(tmp_path / "overlay")
    table = pq.read_table(tmp_path / "overlay" / "subscriptions")
    assert table["role"].to_pylist() == [None, "subscribe", "both", None]
    assert tl.Overlay.load(tmp_path / "overlay").interest.roles.tolist() == [0, 2, 3, 0]
    tl.ring_per_topic(tl.Interest.from_pairs(nodes, topics)).save(tmp_path / "without")
    assert tl.Overlay.load(tmp_path / "without").interest.roles is None
    with pytest.raises(InvalidInterestError, match="a role is 'reader'; publish, subscribe, both are accepted"):
        tl.Interest.from_pairs(["a"], ["x"], ["reader"])
    with pytest.raises(InvalidInterestError, match="1 roles for 2 subscriptions"):
        tl.Interest.from_pairs(["a", "b"], ["x", "x"], ["both"])


def test_a_maintainer_of_a_loaded_overlay_keeps_the_k_at_which_it_was_judged(tmp_path):
    interest = tl.Interest.from_pairs(list("abcdef"), ["x"] * 6)
    tl.ring_per_topic(interest).save(tmp_path / "overlay")
    update_run(tmp_path / "overlay", verified={"k": 2, "ok": True, "broken_topics": 0})
    for _ in range(2):  # and after it was saved again
        loaded = tl.Overlay.load(tmp_path / "overlay")
        assert loaded.report["verified"]["k"] == 2
        loaded.save(tmp_path / "overlay", overwrite=True)
    maintainer = tl.Maintainer(loaded.interest, loaded)
    maintainer.leave("c")
    assert tl.verify(maintainer.interest, maintainer.overlay, k=2).ok
