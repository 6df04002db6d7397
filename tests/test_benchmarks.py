"""The bench's tables: what is written where."""

import json
from pathlib import Path

import pytest
from benchmarks import beyond_report
from benchmarks.beyond import ROWS, Row, measure
from benchmarks.cases import CASES, exponent
from benchmarks.instances import Instance
from benchmarks.report import END, START, document, stored, with_table
from benchmarks.wrapped import wrapped

ROOT = Path(__file__).parents[1]


def test_the_exponent_of_a_power_is_found():
    slope, factor = exponent([(n, 3e-9 * n**1.75) for n in (1_000, 2_000, 20_000)])
    assert slope == pytest.approx(1.75)
    assert factor == pytest.approx(3e-9)


def test_case_names_are_distinct():
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_readme_table_is_replaced_between_its_markers_and_nowhere_else():
    results = stored(ROOT)
    text = with_table(f"before\n{START}\nold\n{END}\nafter", results)
    assert text.startswith(f"before\n{START}\n| nodes") and text.endswith(f"{END}\nafter") and "old" not in text
    assert with_table(text, results) == text
    for unmarked in ("", "no markers", f"{START} only", f"{END} first {START}"):
        assert with_table(unmarked, results) == unmarked


def test_the_committed_documents_are_those_of_the_committed_results():
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == document(results)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_table(readme, results) == readme


def test_the_committed_tables_beyond_greedy_are_those_of_the_committed_rows():
    rows = beyond_report.stored(ROOT)
    for path, table in (("docs/methods/beyond-greedy.md", beyond_report.page), ("README.md", beyond_report.short)):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert beyond_report.between_marks(text, table(rows)) == text


def test_rows_beyond_greedy_have_distinct_names():
    assert len({row.instance.name for row in ROWS}) == len(ROWS)


def test_a_row_is_measured_judged_and_shown():
    row = Row(Instance("tiny", 30, 10, 4), {1: 0.1}, (1,), best=3, degree=1, exact=True, proof=True)
    facts = {**measure(row), "at": {"date": "today", "load": 0, "cpu": "any"}}
    assert {check["what"]: check["met"] for check in facts["checks"]}["refined, effort 1: links / gm's"] is False
    assert facts["bound"]["links"] <= facts["exact"]["links"] <= facts["best"]["links"] <= facts["gm"]["links"]
    shown = beyond_report.page({"tiny": facts})
    assert "| **no** |" in shown and "optimal, proved by" in shown and "| 30 × 10 × 4 uniform | " in shown


def test_generated_sentences_are_wrapped_and_tables_are_not():
    row, prose = "| " + "cell " * 40 + "|", "word " * 40 + "[link](benchmarks.md)"
    lines = wrapped(f"# Head\n\n{prose}\n{row}\n- {prose}").split("\n")
    assert row in lines and all(len(line) <= 120 for line in lines if line != row)
    assert " ".join(line.strip() for line in lines if line != row) == f"# Head  {prose} - {prose}"
