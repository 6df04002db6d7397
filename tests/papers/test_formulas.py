"""Formulas: what a table of published numbers may ask of the finished cells."""

import pandas as pd
import pytest

from topicloom_papers.page.lookup import NotMeasuredError, Results
from topicloom_papers.studies import STUDIES
from topicloom_papers.studies.formulas import ANSWERS, CURVES, PICKS, Formula, alternatives, options_of

NAMES = {"greedy": 'method="greedy, all alike"', "small": "nodes=100, greedy", "fixed": "sizes=none"}


@pytest.fixture
def results():
    """Links of two methods at three sizes, twice each, and of one popularity less at the last size."""
    rows = [
        {"metric": "links", "method": method, "nodes": nodes, "popularity": popularity, "seed": seed,
         "value": base * nodes + seed}
        for method, base in (("gm", 1.0), ("gm2", 2.0))
        for nodes in (10, 20, 40)
        for popularity in ("exponential", "zipf", "uniform")
        for seed in (0, 1)
        if (nodes, popularity) != (40, "zipf")
    ]  # fmt: skip
    return Results(pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nodes=100, k=2|4", {"nodes": 100, "k": (2, 4)}),
        ("alpha=2.0, sizes=none", {"alpha": 2.0, "sizes": None}),
        ("cycle-pt, popularity=*", {"method": "cycle-pt", "popularity": ("exponential", "zipf", "uniform")}),
        ("small, nodes=200", {"nodes": 200, "method": "greedy, all alike"}),
        ("fixed", {"sizes": None}),
        ("", {}),
    ],
)
def test_conditions(text, expected):
    found = options_of(text, NAMES)
    assert found == expected and {type(value) for value in found.values()} == {type(v) for v in expected.values()}


def test_alternatives_are_every_choice():
    found = list(alternatives(options_of("gm, nodes=1|2, k=3|4")))
    assert found == [{"method": "gm", "nodes": n, "k": k} for n in (1, 2) for k in (3, 4)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("links[gm, nodes=10]", 10.5),
        ("links[gm2, nodes=10] - 2 * links[gm, nodes=10]", -0.5),
        ("mean(nodes, links[gm2] / links[gm])", (20.5 / 10.5 + 40.5 / 20.5 + 80.5 / 40.5) / 3),
        ("max(nodes, popularity, abs(links[gm] - links[gm2]))", 40),
        ("min(nodes, links[gm])", 10.5),
        ("growth(nodes, links[gm])", 40.5 / 10.5),
        ("unevenness(nodes, links[gm, nodes=10|20])", 20.5 / 10.5),
        ("linearity(nodes, links[gm])", 1),
        ("lowest_at(nodes, links[gm])", 10),
        ("peak_at(nodes, links[gm])", 40),
        ("plateau_at(nodes, links[gm, nodes=10|20])", 20),
        ("point(nodes, 20, links[gm])", 20.5),
        ("wrong_way(nodes, links[gm])", 10.5 / 20.5),
        ("least(links[gm])", 10),
        ("most(links[gm])", 41),
        ("variance(links[gm, nodes=10, popularity=zipf])", 0.5),
        ("largest([popularity=*, nodes=10|20], links[gm], links[gm2])", 40.5),
        ("smallest(links[gm, nodes=20], 3)", 3),
        ("average([nodes=10|20], links[gm])", 15.5),
        ("furthest(0.5, 1.4, 1)", 0.5),
    ],
)
def test_answers(results, text, expected):
    assert Formula(text)(results) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["links[nodes=11]", "growth(nodes, links[nodes=10])", "point(nodes, 11, links[gm])"])
def test_what_was_not_measured_is_said(results, text):
    with pytest.raises(NotMeasuredError):
        Formula(text)(results)


@pytest.mark.parametrize(
    "text", ["links", "links[gm] ** 2", "links[gm] if 1 else 2", "least(3)", "(1).real", "open(1)"]
)
def test_what_is_no_formula_is_refused(results, text):
    with pytest.raises(ValueError, match=r"is no formula|is not of the form"):
        Formula(text)(results)


def test_every_function_is_used_by_some_study():
    """A table is read once: what no formula calls would stay for ever."""
    texts = " ".join(number.ours.text for study in STUDIES.values() for number in study.published)
    assert [name for name in {*PICKS, *CURVES, *ANSWERS} - {"curve"} if f"{name}(" not in texts] == []
