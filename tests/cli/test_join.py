"""``topicloom join`` on overlays that were saved without Spark."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import main


@pytest.fixture
def sites(tmp_path):
    for name, nodes in (("here", "abb"), ("there", "cdd")):
        tl.greedy_merge(tl.Interest.from_pairs(list(nodes), list("xxy"))).save(tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("method", tl.JOIN_METHODS)
def test_joins_and_says_what_was_added(sites, capsys, method):
    assert main(["join", str(sites / "out"), str(sites / "here"), str(sites / "there"), "--method", method]) == 0
    captured = capsys.readouterr()
    assert "1 links added to the 2 there were" in captured.out and "verified" in captured.err
    joined = tl.Overlay.load(sites / "out")
    assert joined.method == method and joined.n_links == 3
    assert tl.verify(joined.interest, joined.links).ok


def test_json(sites, capsys):
    assert main(["join", str(sites / "out"), str(sites / "here"), str(sites / "there"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["ok"] and facts["outer_links"] == 1 and facts["inner_links"] == 2 and len(facts["overlays"]) == 2


def test_what_cannot_be_joined_is_one_sentence_and_exit_code_2(sites, capsys):
    for arguments, reason in [
        ([str(sites / "here")], "two or more"),
        ([str(sites / "here"), str(sites / "here")], "is in overlay 0 and in overlay 1"),
        ([str(sites / "here"), str(sites / "nowhere")], "does not exist"),
    ]:
        assert main(["join", str(sites / "out"), *arguments]) == 2
        captured = capsys.readouterr()
        assert reason in captured.err and not captured.out and captured.err.count("\n") == 1
    assert not (sites / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--partitions", "few"], "auto"),
        (["--partitions", "0"], "partitions is 0"),
        (["--division", "fair"], "random, similar"),
        (["--inner", "ring-pt"], "weighted-gm, rounds-gm, gm2"),
        (["--k", "2"], "not 2"),
    ],
)
def test_options_of_dc_are_refused_before_spark_starts(tmp_path, capsys, arguments, reason):
    assert main(["design", "missing.csv", str(tmp_path / "out"), "--method", "dc", *arguments]) == 2
    assert reason in capsys.readouterr().err


def test_a_bound_says_how_near_the_join_is_to_the_best_one(sites, capsys):
    folders = [str(sites / name) for name in ("out", "here", "there")]
    assert main(["join", *folders, "--bound"]) == 0
    printed = capsys.readouterr().out
    assert "of all joins of these overlays: the fewest links possible (certified)" in printed
    assert "star nodes: 50.0% on average, 50.0% at most" in printed
    assert main(["join", *folders, "--bound", "--overwrite", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["bound"]["links"], facts["bound"]["excess"]) == (3, 0)
    assert facts["pn_ratios"]["star"]["nodes"] == 2
