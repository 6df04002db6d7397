"""Published | ours | ratio | verdict."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from topicloom_papers.cells.cell_store import SCHEMA
from topicloom_papers.cells.runner import values_of
from topicloom_papers.cells.studies import ABOUT, AT_LEAST, AT_MOST, ORDER, Published, Scale, Study
from topicloom_papers.page import verdicts
from topicloom_papers.page.lookup import NotMeasuredError, Results
from topicloom_papers.page.verdicts import PublishedResult, Tried, compared, verdict
from topicloom_papers.studies import STUDIES
from topicloom_papers.studies.formulas import Formula

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "results.parquet"


@pytest.mark.parametrize(
    ("relation", "ours", "expected"),
    [
        (ABOUT, 10.9, "agrees"),
        (ABOUT, 11.1, "differs"),
        (AT_MOST, 3, "holds"),
        (AT_MOST, 10.5, "within 10 %"),
        (AT_MOST, 12, "differs"),
        (AT_LEAST, 20, "holds"),
        (AT_LEAST, 8.9, "differs"),
        (ORDER, 50, "same order"),
        (ORDER, 200, "differs"),
    ],
)
def test_verdict(relation, ours, expected):
    assert verdict(Published("x", 10, lambda results: ours, relation), ours) == expected


@pytest.mark.parametrize(
    ("number", "ours", "expected"),
    [
        (Published("maximum degree at k = 8 over that at k = 1", 1, lambda results: 0, AT_MOST), 1.016, "differs"),
        (Published("Low-ODA's degree over MinMax-ODA's", 1, lambda results: 0, AT_LEAST), 0.98, "differs"),
        (Published("a curve that falls", 1, lambda results: 0, AT_MOST, trend=True), 1.0001, "differs"),
        (Published("the inner time is dominant", 0.5, lambda results: 0, AT_LEAST, trend=True), 0.49, "differs"),
        (Published("degree less another's, a measured number", 43.1, lambda results: 0, AT_LEAST), 42.5, "within 10 %"),
    ],
)
def test_the_wrong_side_of_a_claim_of_direction_is_wrong(number, ours, expected):
    assert verdict(number, ours) == expected


def by_seed(values, nodes=(1000,)):
    """A value for each seed, the same for all numbers of nodes."""
    rows = [
        {"measurement": "m", "method": "gm", "seed": seed, "metric": "degree", "at": None, "value": value, "nodes": n}
        for seed, value in enumerate(values)
        for n in nodes
    ]
    return Results(pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("runs", "published", "span", "inside"),
    [(1, 12.9, (10, 13), True), (1, 13.1, (10, 13), False), (4, 12.9, None, False), (4, 10.6, None, True)],
)
def test_numbers_of_few_runs_are_set_beside_as_few_of_ours(runs, published, span, inside):
    number = Published("a degree", published, lambda results: results.mean("degree"), runs=runs)
    study = Study("s", "", "", "", "", lambda scale: [], published=[number])
    (row,) = compared([study], by_seed([10, 10, 10, 11, 13, 10]))
    assert row.inside is inside and (span is None or row.span == span)
    if runs == 4:  # a mean of four lies within less than single runs do, and 95 % of them within less than all
        assert row.span[0] >= 10 and row.span[1] < 13
    assert f"{'yes' if inside else 'no'}: 10 to" in verdicts.as_markdown([row])
    assert compared([study], by_seed([10, 13, 10, 11]))[0].span is None  # four seeds say nothing


def test_a_number_inside_our_seeds_still_differs_and_is_counted_apart():
    mean = lambda results: results.mean("degree")  # noqa: E731
    numbers = [
        Published("inside", 20, mean, runs=1),
        Published("inside in another reading", 30, mean, runs=1, shown_by=("other",)),
        Published("agrees", 12, mean, runs=1),
        Published("the other reading", 30, lambda results: 2 * mean(results), runs=1, experiment=True, key="other"),
    ]
    rows = compared([Study("s", "", "", "", "", lambda scale: [], published=numbers)], by_seed([9, 9, 11, 11, 20]))
    assert [row.verdict for row in rows] == ["differs", "differs", "agrees", "differs"]
    assert "Of 3 published degrees, sizes and diameters, 1 (33%)" in verdicts.tally(rows)
    assert "1 more differ in the mean, but lie inside our seeds" in verdicts.tally(rows)
    counted = [line.split("|")[2].strip() for line in verdicts.standing(rows).splitlines()[-2:]]
    assert counted == ["1", "1"]
    assert "**differs**: [inside](#s--other) | no: 9 to 20 |" in verdicts.as_markdown(rows)


def test_a_curve_is_judged_by_its_ends():
    """Single steps once hid that degrees rise by 18 % over a curve that is said to fall."""
    frame = pd.concat([by_seed([value], nodes=(n,)).frame for n, value in ((100, 10), (500, 10.9), (1000, 11.8))])
    assert Formula("growth(nodes, degree[])")(Results(frame)) == pytest.approx(1.18)
    fall = committed(
        "low-oda-fig8", "2D-ODA's degree at the last point over that at the first (§6.5: falls with nodes)"
    )
    assert fall.ours > 1.1 and fall.verdict == "differs"


@pytest.mark.parametrize(
    ("study", "says", "verdict"),
    [
        ("gm-fig4a", "RingPT's degree over GM's, mean over the nodes", "agrees"),
        ("gm-fig4b", "RingPT's degree with 20 per node over that with 10, mean", "agrees"),
        ("churn-fig5", "maximum degree after 1,000 rounds, λ = 1", "differs"),
        ("ktco-fig5", "topics per node beyond which HararyPT's degree no longer rises, Zipf", "differs"),
        ("dc-table1", "variance of the size of a star set", "same order"),
    ],
)
def test_main_rows_follow_what_the_paper_states(study, says, verdict):
    """Rings that share nothing, the stated 2,000 nodes, the highest point measured, single star sets."""
    row = committed(study, says)
    assert row.verdict == verdict and not row.number.experiment
    if verdict != "differs":
        assert row.ratio == pytest.approx(1, abs=0.1)


def committed(name, says):
    """A row of the committed page."""
    stored = pq.read_table(RESULTS, columns=["cell", "metric", "at", "value"])
    cells = STUDIES[name].grid(Scale("paper"))
    wanted = stored.filter(pc.is_in(stored["cell"], pa.array([cell.text for cell in cells])))
    (row,) = [row for row in compared([STUDIES[name]], Results.of(wanted)) if row.number.says == says]
    return row


def test_times_are_not_judged_and_experiments_not_counted():
    time = Published("a time", 1, lambda results: 9, time=True)
    tried = Published("another reading", 1, lambda results: 1, experiment=True)
    rows = [
        PublishedResult("s", number, number.ours(None), verdict(number, number.ours(None))) for number in (time, tried)
    ]
    assert [row.verdict for row in rows] == ["time", "agrees"]
    assert verdicts.tally(rows).startswith("Of 0 published")
    assert "Other readings" in verdicts.as_markdown(rows)


def test_trends_are_judged_and_counted_apart():
    numbers = [
        Published("a degree", 1, lambda results: 1.05),
        Published("a curve that falls", 1, lambda results: 0.9, "≤", trend=True),
        Published("a curve that does not", 1, lambda results: 1.5, "≤", trend=True),
    ]
    rows = [PublishedResult("s", number, number.ours(None), verdict(number, number.ours(None))) for number in numbers]
    assert verdicts.tally(rows).startswith(
        "Of 1 published"
    ) and "Of 2 claims on trends and variances, 1 hold." in verdicts.tally(rows)
    assert "| 1 | 100% |" in verdicts.standing(rows)
    assert "counted apart" in verdicts.as_markdown(rows)


def test_a_bar_in_a_row_does_not_end_its_cell():
    number = Published("degree at |V| partitions", 1, lambda results: 1)
    table = verdicts.as_markdown([PublishedResult("s", number, 1.0, "agrees")])
    assert [line.replace("\\|", "").count("|") for line in table.splitlines()] == [6, 6, 6]


def test_a_number_without_its_cells_is_not_measured():
    results = Results.of(SCHEMA.empty_table())
    with pytest.raises(NotMeasuredError):
        results.mean("average_degree", method="gm")
    rows = compared([STUDIES["dc-fig8"]], results)
    assert {row.verdict for row in rows} == {"not measured at this scale"}
    assert verdicts.as_arrow(rows)["ours"].null_count == len(rows)


def test_results_answer_by_conditions():
    cells = STUDIES["low-oda-fig3"].grid(Scale("quick", seeds=2))
    results = Results.of(pa.concat_tables([values_of(cell) for cell in cells]))
    by_rho = results.by("rho", "average_degree", method="low-oda")
    assert by_rho.index.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    both = [results.mean("average_degree", method="gm", seed=seed) for seed in (0, 1)]
    assert results.mean("average_degree", method="gm", rho=None) == pytest.approx(sum(both) / 2)
    assert results.among(cells[:1]).frame["cell"].unique().tolist() == [cells[0].text]
    rows = compared([STUDIES["low-oda-fig3"], STUDIES["low-oda-fig4"]], results)
    assert {row.verdict for row in rows} <= {"agrees", "same order", "holds", "within 10 %", "differs"}


def test_what_an_experiment_decides():
    """One number differs and is shown why, one differs and is not, one agrees only in a reading chosen afterwards."""
    numbers = [
        Published("shown", 10, lambda results: 20, why="ring-order", shown_by=("other", "found")),
        Published("bracketed", 10, lambda results: 30, why="ring-order", shown_by=("other",)),
        Published("chosen", 10, lambda results: 10, instead_of="other"),
        Published("as before", 10, lambda results: 10, instead_of="found"),
        Published("another reading", 10, lambda results: 5, experiment=True, key="other"),
        Published("the reading", 10, lambda results: 10, experiment=True, key="found"),
        Published("impossible", 10, lambda results: 20, why="ring-order", shown_by=("bound",)),
        Published("none can be below", 10, lambda results: 12, "≥", experiment=True, key="bound"),
    ]
    rows = [PublishedResult("s", number, number.ours(None), verdict(number, number.ours(None))) for number in numbers]
    tried = Tried(rows)
    assert [[one.number.key for one in tried.deciding(row)] for row in rows[:2]] == [["found"], []]
    assert [tried.chosen_afterwards(row) for row in rows[:4]] == [False, False, True, False]
    assert [tried.reproduced(rows[k]) for k in (0, 1, 2, 6)] == [True, False, True, False]
    standing = [line.split("|")[2].strip() for line in verdicts.standing(rows).splitlines()[2:]]
    assert standing == ["2", "1", "2", "1", "1", "0", "0"]
    page = verdicts.as_markdown(rows)
    assert "**differs**: [why](#ring-order), [shown](#s--found)" in page and '<a id="s--found"></a>the reading' in page
    assert Tried(rows[:4]).deciding(rows[0]) == []  # of a study that was not run nothing is claimed
