"""Published | ours | ratio | verdict."""

import pytest

from topicloom.study.cell_store import SCHEMA
from topicloom.study.page import verdicts
from topicloom.study.page.lookup import NotMeasuredError, Results
from topicloom.study.page.verdicts import Compared, Tried, compared, verdict
from topicloom.study.papers import STUDIES
from topicloom.study.runner import values_of
from topicloom.study.studies import ABOUT, AT_LEAST, AT_MOST, ORDER, Published, Scale


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


def test_times_are_not_judged_and_experiments_not_counted():
    time = Published("a time", 1, lambda results: 9, time=True)
    tried = Published("another reading", 1, lambda results: 1, experiment=True)
    rows = [Compared("s", number, number.ours(None), verdict(number, number.ours(None))) for number in (time, tried)]
    assert [row.verdict for row in rows] == ["time", "agrees"]
    assert verdicts.tally(rows).startswith("Of 0 published")
    assert "Other readings" in verdicts.as_markdown(rows)


def test_trends_are_judged_and_counted_apart():
    numbers = [
        Published("a degree", 1, lambda results: 1.05),
        Published("a curve that falls", 1, lambda results: 0.9, "≤", trend=True),
        Published("a curve that does not", 1, lambda results: 1.5, "≤", trend=True),
    ]
    rows = [Compared("s", number, number.ours(None), verdict(number, number.ours(None))) for number in numbers]
    assert verdicts.tally(rows).startswith(
        "Of 1 published"
    ) and "Of 2 claims on trends and variances, 1 hold." in verdicts.tally(rows)
    assert "| 1 | 100% |" in verdicts.standing(rows)
    assert "counted apart" in verdicts.as_markdown(rows)


def test_a_bar_in_a_row_does_not_end_its_cell():
    number = Published("degree at |V| partitions", 1, lambda results: 1)
    table = verdicts.as_markdown([Compared("s", number, 1.0, "agrees")])
    assert [line.replace("\\|", "").count("|") for line in table.splitlines()] == [6, 6, 6]


def test_a_number_without_its_cells_is_not_measured():
    results = Results.of(SCHEMA.empty_table())
    with pytest.raises(NotMeasuredError):
        results.mean("average_degree", method="gm")
    rows = compared([STUDIES["dc-fig8"]], results)
    assert {row.verdict for row in rows} == {"not measured at this scale"}
    assert verdicts.as_arrow(rows)["ours"].null_count == len(rows)


def test_results_answer_by_conditions():
    import pyarrow as pa

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
    rows = [Compared("s", number, number.ours(None), verdict(number, number.ours(None))) for number in numbers]
    tried = Tried(rows)
    assert [[one.number.key for one in tried.deciding(row)] for row in rows[:2]] == [["found"], []]
    assert [tried.chosen_afterwards(row) for row in rows[:4]] == [False, False, True, False]
    assert [tried.reproduced(rows[k]) for k in (0, 1, 2, 6)] == [True, False, True, False]
    standing = [line.split("|")[2].strip() for line in verdicts.standing(rows).splitlines()[2:]]
    assert standing == ["2", "1", "2", "1", "1"]
    page = verdicts.as_markdown(rows)
    assert "**differs**: [why](#ring-order), [shown](#s--found)" in page and '<a id="s--found"></a>the reading' in page
    assert Tried(rows[:4]).deciding(rows[0]) == []  # of a study that was not run nothing is claimed
