"""``topicloom refine`` on overlays that were saved without Spark."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import main


@pytest.fixture
def overlay(tmp_path):
    interest = tl.generate(nodes=120, topics=20, subscriptions=6, popularity="zipf", seed=1)
    tl.greedy_merge(interest).save(tmp_path / "overlay")
    return tmp_path / "overlay"


def test_writes_an_overlay_with_fewer_links_and_prints_the_curve(overlay, tmp_path, capsys):
    assert main(["refine", str(overlay), str(tmp_path / "out"), "--effort", "20"]) == 0
    printed = capsys.readouterr()
    start, refined = tl.Overlay.load(overlay), tl.Overlay.load(tmp_path / "out")
    assert refined.n_links < start.n_links
    assert refined.verify().ok
    assert f"{start.n_links} " in printed.out
    assert "verified; wrote" in printed.err


def test_json_has_the_curve(overlay, tmp_path, capsys):
    assert main(["refine", str(overlay), str(tmp_path / "out"), "--effort", "2", "--seed", "5", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["seed"] == 5
    assert facts["curve"][-1][1] == facts["links"] == tl.Overlay.load(tmp_path / "out").n_links


def test_ctrl_c_writes_what_was_reached(overlay, tmp_path, monkeypatch, capsys):
    def interrupt(self, sentence):
        if sentence.startswith("effort"):
            raise KeyboardInterrupt

    monkeypatch.setattr("topicloom.cli.console.Narrator.__call__", interrupt)
    assert main(["refine", str(overlay), str(tmp_path / "out")]) == 130
    assert "written as far as it got" in capsys.readouterr().err
    assert tl.Overlay.load(tmp_path / "out").verify().ok


def test_never_over_its_own_input(overlay, capsys):
    assert main(["refine", str(overlay), str(overlay), "--overwrite"]) == 2


@pytest.mark.parametrize("option", [["--effort", "0"], ["--objective", "x"], ["--k", "2"]], ids=str)
def test_bad_options_are_one_sentence(overlay, tmp_path, capsys, option):
    assert main(["refine", str(overlay), str(tmp_path / "out"), *option]) == 2
    assert "accepted" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
