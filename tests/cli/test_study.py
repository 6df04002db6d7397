"""``topicloom study`` from its name to plots, table and page."""

import pytest
from pyarrow import parquet

from topicloom.cli.app import main


def test_a_study_leaves_results_plots_and_a_page(shared_session, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["study", "low-oda-table2", str(out), "--scale", "quick"]) == 0
    printed = capsys.readouterr()
    assert "links of 2D-ODA, n = 20" in printed.out and "agrees" in printed.out
    assert "Of 4 published" in printed.err
    assert (out / "results" / "low-oda-table2.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "results" / "low-oda-table2.svg").read_text()
    page = (out / "results.md").read_text()
    assert "![low-oda-2d-oda, Table 2: links in Case VII](results/low-oda-table2.svg)" in page
    assert parquet.read_table(out / "results" / "published.parquet")["ours"].to_pylist() == [35, 35, 35, 20]

    # the same numbers give the same page and the same picture
    svg = (out / "results" / "low-oda-table2.svg").read_bytes()
    assert main(["study", "low-oda-table2", str(out), "--scale", "quick"]) == 0
    assert "8 of 8 cells were measured before" in capsys.readouterr().err
    assert (out / "results" / "low-oda-table2.svg").read_bytes() == svg
    assert (out / "results.md").read_text() == page


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gm-fig99", "out"], "there is no study 'gm-fig99'; the studies are all, gm-fig2"),
        (["gm-fig2"], "needs the name of a study and a folder"),
        (["gm-fig2", "out", "--scale", "huge"], "--scale is 'huge'"),
        (["gm-fig2", "out", "--seeds", "0"], "--seeds"),
        (["report", "out"], "holds no results"),
    ],
)
def test_what_is_refused(arguments, complaint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["study", *arguments]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_list(capsys):
    assert main(["study", "--list"]) == 0
    assert "churn-fig8" in capsys.readouterr().out
