"""The catalogue: every number that spec.md lists has its row, every key leads somewhere, grids are what they say."""

import contextlib
import inspect
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import topicloom as tl
from topicloom.cli.app import COMMANDS
from topicloom_papers.cells.studies import Scale
from topicloom_papers.measurements import MEASUREMENTS
from topicloom_papers.page.explanations import BUILT, EXPLANATIONS
from topicloom_papers.page.lookup import NotMeasuredError, Results
from topicloom_papers.page.verdicts import NOT_MEASURED, compared
from topicloom_papers.studies import STUDIES

DOCS = Path(__file__).parents[2] / "docs"
# Written down from the papers' texts, apart from the studies: numbers that each figure or table states.
STATED = {
    "gm-fig3": [1e-3],
    "gm-fig4a": [3],
    "gm-fig4b": [1.25, 2, 8],
    "low-oda-fig1": [1, 1],
    "low-oda-fig2": [1, 1],
    "low-oda-fig3": [1, 1],
    "low-oda-fig4": [1, 1],
    "low-oda-fig8": [1.09, 2.04, 2.06],
    "low-oda-fig9": [1.07, 1.96, 2],
    "low-oda-fig10": [1.1, 1.94, 2.23, 0.20, 0.20],
    "low-oda-table2": [35, 35, 35, 20],
    "ktco-fig3": [1.66, 1.65, 5, 60, 12, 7, 5],
    "ktco-fig4": [1.66, 43.1, 54.22, 222.84, 1, 1],
    "ktco-fig5": [50, 20, 60.20, 177.23],
    "ktco-fig6": [0.40, 0.50, 17.5, 10.0],
    "ktco-fig8": [0.45, 0.51, 16.75, 10.5, 17.5],
    "dc-table1": [6.50, 6.42, 6.56, 5.09, 5.07, 5.13, 0.0634, 0.0205, 0.150, 9.54, 8, 11],
    "dc-fig4": [0.15, 2.5],
    "dc-fig5": [0.01, 0.0028, 0.75, 0.186, 1],
    "dc-fig6": [6, 3.5, 10],
    "dc-fig8": [6.97, 2.12, 0.0170],
    "dc-fig10": [3.66, 1.24, 1.06, 0.28],
    "dc-fig12": [5, 2.12],
    "churn-fig2": [0.011, 0.429],
    "churn-fig3": [0.028, 21, 59],
    "churn-fig4": [84],
    "churn-fig5": [31, 25, 24, 24],
    "churn-fig6": [13, 22, 22, 5.5, 0.798],
    "churn-fig7": [
        0.00014, 0.00043, 0.0178, 0.14, 0.616, 0.00269, 0.00793, 0.333, 2.575, 18.76, 0.0159, 0.0497,
    ],
    "churn-fig8": [0.094, 0.113, 0.075, 0.00068, 0.0017, 4.83, 12.24, 610],
}  # fmt: skip
# Claims of the texts on curves and variances without a number: a word or two by which each row names its claim.
CLAIMED = {
    "gm-fig3": ["like |V|²"],
    **{f"low-oda-fig{n}": [f"{name}'s degree" for name in ("CD-ODA", "CD-ODA-I", "CD-ODA-II", "2D-ODA", "GM")]
       for n in (8, 9, 10)},
    "ktco-fig3": ["GM2's degree at the most", "GM's degree at the most", "CyclePT's degree at the most",
                  "GM2 outperforms HararyPT", "increases with k", "better where skewed"],
    "ktco-fig4": ["GM2's degree at the most", "GM's degree at the most", "HararyPT's degree at the most",
                  "more pronounced for Unif", "more advantage where correlated"],
    "ktco-fig5": ["GM's degree at 100", "Expo (the difference shrinks)", "Zipf (the difference shrinks)",
                  "Unif (the difference shrinks)", "it is linear", "lower for all k"],
    "ktco-fig6": ["largest diameter less GM2's at 1,000 nodes over", "mean diameter less GM2's at 1,000 nodes over"],
    "ktco-fig8": ["largest diameter less GM2's at 1,000 nodes over", "mean diameter less GM2's at 1,000 nodes over"],
    "dc-table1": ["variance of DC's degree", "variance of GM's degree", "variance of the size of a star set"],
    "dc-fig4": ["remains steady"],
    "dc-fig5": ["decreases considerably", "its decline"],
    "dc-fig6": ["first increases, then decreases", "equals GM's", "slides down sharply", "then it climbs"],
    "dc-fig7": ["E_out grows", "T_out grows", "T_in is dominant"],
    "dc-fig8": ["the impact grows", "kept steady"],
    "dc-fig9": ["T_in is dominant"],
    "dc-fig10": ["DC's degree at the most", "GM's degree at the most", "over that at 100, Unif (it increases)"],
    "dc-fig11": ["the ratio falls"],
    "churn-fig2": ["linearly proportional"],
    "churn-fig3": ["linearly proportional", "dependency is linear"],
    "churn-fig4": ["maximum degree after 1,000 rounds over", "average degree after 1,000 rounds over",
                   "degrades noticeably"],
    "churn-fig5": ["(it decreases)", "growth rate decreases", "differences decrease", "difference is insignificant"],
    "churn-fig6": ["Shadow's maximum degree over Naive's", "Shadow's average degree over Naive's",
                   "does not degrade significantly"],
    "churn-fig7": ["a join over Naive's", "a leave over Naive's"],
    "churn-fig8": ["a join over that of rebuilding", "a leave over that of rebuilding"],
}  # fmt: skip
FIGURES = {
    "gm-fig2", "gm-fig3", "gm-fig4a", "gm-fig4b",
    *(f"low-oda-fig{n}" for n in (1, 2, 3, 4, 8, 9, 10)), "low-oda-table2",
    *(f"ktco-fig{n}" for n in (3, 4, 5, 6, 8)),
    "dc-table1", *(f"dc-fig{n}" for n in range(4, 13)),
    *(f"churn-fig{n}" for n in range(2, 9)),
}  # fmt: skip


def test_every_figure_and_table_has_its_study():
    assert set(STUDIES) >= FIGURES
    assert len([name for name in STUDIES if name.startswith("real-")]) >= 3


@pytest.mark.parametrize("name", STATED)
def test_every_number_that_the_paper_states_has_its_row(name):
    rows = [number.value for number in STUDIES[name].published if not number.experiment]
    for value in STATED[name]:
        assert value in rows, f"{value} is not in the table of {name}"
        rows.remove(value)


@pytest.mark.parametrize("name", CLAIMED)
def test_every_claim_that_the_paper_makes_of_a_curve_has_its_row(name):
    rows = [number.says for number in STUDIES[name].published if number.trend]
    for claim in CLAIMED[name]:
        found = next((says for says in rows if claim in says), None)
        assert found is not None, f"{claim!r} is not in the table of {name}"
        rows.remove(found)
    assert not rows, "a row that no claim stands behind"


def test_the_committed_page_judges_every_claim_and_says_why_where_one_does_not_hold():
    """Of the numbers the other tests speak; a claim that cannot be judged would not be counted at all."""
    sections = re.split(r'<a id="([\w-]+)"></a>\n### ', (DOCS / "results.md").read_text(encoding="utf-8"))
    for name, section in zip(sections[1::2], sections[2::2], strict=True):
        rows = section.partition("Trends and variances")[2].partition("Other readings")[0]
        lines = [line for line in rows.splitlines()[4:] if line.startswith("| ")]
        assert not [line for line in lines if "not measured" in line or line.endswith("**differs** |")]
        assert len(lines) == sum(number.trend for number in STUDIES[name].published), name


LINES = [line for line in BUILT.replace("\\|", "/").splitlines() if line.startswith("| ")]
ROWS = [line.strip("| ").split(" | ") for line in LINES[1:]]


def exists(name):
    """Whether a name of the table is a method, a public function, a command, a file, or an option with its value."""
    if name.startswith("tl."):
        return name[3:] in tl.__all__ and hasattr(tl, name[3:])
    if name.startswith("topicloom "):
        return name.removeprefix("topicloom ") in COMMANDS
    if "=" in name:
        option, _, value = name.partition("=")
        chosen = {option: json.loads(value.lower() if value == "True" else value)}
        interest = tl.datasets.example()
        if option in inspect.signature(tl.Maintainer).parameters:
            return tl.Maintainer(interest, tl.low_oda(interest), **chosen).overlay.verify().ok
        return tl.design(interest, "dc", **{"partitions": 2, **chosen}).verify().ok
    package = Path(tl.__file__).parent
    return name in tl.METHODS or (package / name).exists() or (package.parent / name).exists()


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_what_is_said_to_be_built_is_there_and_its_check_too(row):
    """That links lead somewhere, test_docs.py sees; names have to be known, and each row names a test or a study."""
    part, where, checks = row
    names = re.findall(r"`([^`]+)`", where)
    assert [name for name in names if not exists(name)] == []
    assert names or "(errata.md)" in where or "(methods/hardness.md)" in where
    assert set(re.findall(r"\]\(#([\w-]+)\)", checks)) <= set(STUDIES)
    assert "../tests/" in checks, f"{part} names no test"


def test_each_of_the_five_papers_and_each_of_its_figures_is_in_the_table():
    assert {row[0].split()[0] for row in ROWS} == {"gm-min-tco", "low-oda", "ktco", "star-merge", "shadows", "errata"}
    named = {name for row in ROWS for name in re.findall(r"\]\(#([\w-]+)\)", row[2])}
    assert named == {name for name in STUDIES if not name.startswith("real-")}


def test_where_only_a_few_points_were_measured_rows_say_so_and_none_breaks():
    """At quick scale some curves have one point; once the page of a quick run could not be written."""
    wanted = {cell.text for study in STUDIES.values() for cell in study.grid(Scale("quick"))}
    stored = pq.read_table(DOCS / "results" / "results.parquet")
    found = stored.filter(pc.is_in(stored["cell"], pa.array(sorted(wanted))))
    rows = compared(list(STUDIES.values()), Results.of(found))
    assert {row.verdict for row in rows if row.number.says.startswith("GM2's degree at the most")} == {NOT_MEASURED}
    assert {row.verdict for row in rows if row.study == "dc-fig4" and row.number.trend} == {NOT_MEASURED}


def test_no_point_of_a_curve_mixes_settings():
    """Once messages of all numbers of partitions went into one point. One seed tells: the others are alike."""
    stored = pq.read_table(DOCS / "results" / "results.parquet", columns=["cell", "metric", "at", "value"])
    everything = Results.of(stored.filter(pc.match_substring(stored["cell"], '"seed":0,')))
    for study in STUDIES.values():
        results = everything.among(study.grid(Scale("paper")))
        for panel in study.panels:
            for line in panel.lines:
                with contextlib.suppress(NotMeasuredError):
                    points = results.select(line.metric, **line.where).groupby(panel.x)["cell"].nunique()
                    assert points.max() == 1, f"{study.name}, {panel.title}, {line.label}"


def test_times_have_both_denominators():
    for study in STUDIES.values():
        ratios = [
            number for number in study.published if number.time and number.unit == "%" and "longest" not in number.says
        ]
        assert sum("literal" in number.says for number in ratios) * 2 == len(ratios), study.name


def test_every_explanation_exists():
    for study in STUDIES.values():
        for number in study.published:
            assert number.why is None or number.why in EXPLANATIONS, f"{study.name}: {number.why}"
    used = {number.why for study in STUDIES.values() for number in study.published}
    for key, (answer, page) in EXPLANATIONS.items():
        assert key in used and len(answer.split()) > 10
        assert not page or (DOCS / page.partition("#")[0]).exists(), f"{key} leads to {page}, which is not there"


def test_every_experiment_that_a_number_refers_to_exists():
    keys = [f"{study.name}/{number.key}" for study in STUDIES.values() for number in study.published if number.key]
    assert len(set(keys)) == len(keys)
    for study in STUDIES.values():
        for number in study.published:
            assert number.experiment or not number.key, f"{study.name}: {number.says}"
            assert re.fullmatch(r"[\w-]*", number.key), f"{number.key} is no anchor"
            for key in (*number.shown_by, *filter(None, [number.instead_of])):
                assert (key if "/" in key else f"{study.name}/{key}") in keys, f"{study.name}: {key}"


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize("name", STUDIES)
def test_grids(name, scale):
    cells = STUDIES[name].grid(Scale(scale))
    assert cells and len({cell.key for cell in cells}) == len(cells)
    assert {cell.measurement for cell in cells} <= set(MEASUREMENTS)
    fewer = STUDIES[name].grid(Scale(scale, seeds=1))
    assert {cell.seed for cell in fewer} == {0} and {cell.key for cell in fewer} <= {cell.key for cell in cells}


def test_the_committed_page_has_all_studies_measured():
    """Data sets are found by an environment variable; once a page was committed from a run that lacked it."""
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    assert "Not measured" not in page
    assert all(f'<a id="{study.name}"></a>' in page for study in STUDIES.values())
