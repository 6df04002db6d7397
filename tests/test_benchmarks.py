"""The bench's tables: what is written where."""

import json
from pathlib import Path

import pytest
from benchmarks.cases import CASES, exponent
from benchmarks.report import END, START, document, stored, with_table

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
