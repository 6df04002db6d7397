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


@pytest.fixture
def subscriptions(tmp_path):
    interest = tl.generate(nodes=60, topics=12, subscriptions=5, popularity="zipf", seed=1)
    text = "".join(f"n{node},t{topic}\n" for node in range(60) for topic in interest.topics_of(node))
    (tmp_path / "subs.csv").write_text("node,topic\n" + text)
    return tmp_path / "subs.csv"


def test_design_refines_and_says_how_near_it_is_to_the_fewest_links(subscriptions, tmp_path, capsys):
    options = ["--engine", "memory", "--json", "--bound"]
    assert main(["design", str(subscriptions), str(tmp_path / "gm"), *options]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main(["design", str(subscriptions), str(tmp_path / "better"), *options, "--refine", "20"]) == 0
    better = json.loads(capsys.readouterr().out)
    assert better["bound"]["links"] <= better["metrics"]["links"] < plain["metrics"]["links"]
    assert better["bound"]["links"] == plain["bound"]["links"]
    overlay = tl.Overlay.load(tmp_path / "better")
    assert (overlay.n_links, overlay.verify().ok) == (better["metrics"]["links"], True)
    assert better["bound"]["excess"] == overlay.n_links / better["bound"]["links"] - 1


def test_design_prints_the_bound_as_a_sentence(subscriptions, tmp_path, capsys):
    assert main(["design", str(subscriptions), str(tmp_path / "out"), "--engine", "memory", "--bound"]) == 0
    assert "the fewest links possible (certified)" in capsys.readouterr().out


@pytest.mark.parametrize("effort", ["0", "-1", "nan"])
def test_design_refuses_an_effort_that_is_none(subscriptions, tmp_path, capsys, effort):
    assert main(["design", str(subscriptions), str(tmp_path / "out"), "--engine", "memory", "--refine", effort]) == 2
    assert "--refine must be above 0" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_measure_says_how_near_links_of_any_origin_are_to_the_fewest(subscriptions, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main(["design", str(subscriptions), out, "--engine", "memory", "--method", "ring-pt", "--json"]) == 0
    links = json.loads(capsys.readouterr().out)["metrics"]["links"]
    assert main(["measure", str(subscriptions), out, "--engine", "memory", "--bound", "--json"]) == 0
    bound = json.loads(capsys.readouterr().out)["bound"]
    assert (
        bound["sentence"]
        == f"at most {100 * (links / bound['links'] - 1):.1f} % above the fewest links possible (certified)"
    )
    assert main(["measure", str(subscriptions), out, "--engine", "memory", "--bound"]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"{links} links: {bound['sentence']}")


def test_no_bound_is_printed_for_links_that_connect_too_little(subscriptions, tmp_path, capsys):
    (tmp_path / "links.csv").write_text("src,dst\nn0,n1\n")
    assert main(["measure", str(subscriptions), str(tmp_path / "links.csv"), "--engine", "memory", "--bound"]) == 0
    assert "certified" not in capsys.readouterr().out


def test_design_says_whether_the_fewest_links_are_proved(subscriptions, tmp_path, capsys):
    options = ["--engine", "memory", "--method", "exact", "--seconds", "5"]
    assert main(["design", str(subscriptions), str(tmp_path / "out"), *options]) == 0
    assert " links: optimal, proved by " in capsys.readouterr().out
    assert tl.Overlay.load(tmp_path / "out").report["exact"]["optimal"]


def test_a_refinement_stops_at_the_gap_that_was_asked_for(tmp_path, capsys):
    interest = tl.generate(nodes=60, topics=12, subscriptions=4, popularity="zipf", seed=3)
    tl.design(interest, "ring-pt").save(tmp_path / "rings")
    given = ["refine", str(tmp_path / "rings"), str(tmp_path / "near"), "--effort", "200", "--json"]
    assert main([*given, "--until-gap", "40%"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["bound"]["excess"] <= 0.4
    assert facts["curve"][-1][0] < 100  # the effort is not spent
    assert main([*given, "--overwrite", "--until-gap", "nearly"]) == 2
    assert "5% or 0.05" in capsys.readouterr().err
