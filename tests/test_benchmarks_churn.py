"""The bench of churn: what is committed belongs together."""

from pathlib import Path

from benchmarks.churn_report import document, stored, targets

ROOT = Path(__file__).parents[1]


def test_the_committed_document_is_that_of_the_committed_results():
    assert (ROOT / "docs" / "benchmarks-churn.md").read_text(encoding="utf-8") == document(stored(ROOT))


def test_a_missed_target_shows():
    results = stored(ROOT)
    for row in results["runs"]:
        row["ms"] *= 1000
    met = {target["what"]: target["met"] for target in targets(results)}
    assert not met["shadow joins a second"] and met["links changed per join"]
    assert "| **no** |" in document(results)
