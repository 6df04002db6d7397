"""What cells yield, against other ways to the same number."""

import numpy as np
import pytest

import topicloom as tl
from topicloom.study.cells import Cell
from topicloom.study.churn_rounds import Churn
from topicloom.study.interests import case_vii
from topicloom.study.measurements import MEASUREMENTS
from topicloom.study.measurements.kinds import NotVerifiedError, require_connected

SMALL = {"nodes": 60, "topics": 12, "subscriptions": 4}


def figures(cell):
    return {(figure.metric, figure.at): figure.value for figure in MEASUREMENTS[cell.measurement].function(cell)}


def test_design_gives_the_figures_of_the_overlay():
    found = figures(Cell("diameters", "gm", SMALL, seed=3))
    interest = tl.generate(**SMALL, seed=3)
    metrics = tl.measure(interest, tl.greedy_merge(interest, seed=3).links)
    assert found["average_degree", None] == metrics.average_degree
    assert found["max_topic_diameter", None] == metrics.max_topic_diameter


def test_steps_are_pairs_of_subscribers_counted_once_and_lowered_once():
    found = figures(Cell("steps", "literal", SMALL, seed=1))
    sizes = np.diff(tl.generate(**SMALL, seed=1).topic_indptr)
    pairs = int((sizes * (sizes - 1) // 2).sum()) / (60**2 * 12)
    assert found["counted_share", None] == pytest.approx(pairs)
    assert found["lowered_share", None] == pytest.approx(pairs)


def test_naive_merge_considers_everybody():
    drawn = {"nodes": 300, "topics": 20, "subscriptions": 5, "sizes": "mean"}
    star, naive = (figures(Cell("join", method, drawn, seed=2)) for method in ("star-merge", "naive-merge"))
    assert naive["pn_ratio", None] == pytest.approx(299 / 300)
    assert star["pn_ratio", None] < naive["pn_ratio", None]


def test_churn_and_rebuilding_see_the_same_rounds():
    cell = Cell("churn", "shadow", SMALL, {"rounds": 20, "every": 10}, seed=4)
    churn = Churn.of(cell)
    maintainer = tl.Maintainer(churn.interest(), tl.low_oda(churn.interest()))
    for turn, present in churn.present():
        churn.apply(maintainer, turn)
        labels = sorted(churn.everyone.node_label(node) for node in present)
        assert maintainer.interest.node_labels.tolist() == labels
    found = figures(cell)
    assert [at for metric, at in found if metric == "max_degree"] == [0, 10, 20]


def test_rebuilding_with_kept_ties_exchanges_fewer_links():
    drawn = {"nodes": 200, "topics": 40, "subscriptions": 10}
    kept, anew = (
        figures(Cell("rebuild", "low-oda", drawn, {"rounds": 12, "every": 3, "ties": ties}, seed=1))[
            "links_exchanged", None
        ]
        for ties in ("kept", "drawn")
    )
    assert 0 < kept < anew


def test_times_name_both_denominators():
    found = figures(Cell("time-design", "dc", SMALL, {"partitions": 3}))
    assert found["time_of_gm", None] == found["seconds", None] / found["gm_seconds", None]
    assert found["time_of_literal", None] == found["seconds", None] / found["literal_seconds", None]


def test_a_broken_overlay_does_not_count():
    interest = tl.generate(**SMALL)
    with pytest.raises(NotVerifiedError, match="not 1-topic-connected"):
        require_connected(Cell("design", "gm", SMALL), interest, tl.greedy_merge(interest).links[1:])


def test_case_vii():
    interest = case_vii(20)
    assert [tl.design(interest, method).n_links for method in ("2d-oda", "cd-oda", "cd-oda-1", "cd-oda-2")] == [
        20, 35, 35, 35,
    ]  # fmt: skip
