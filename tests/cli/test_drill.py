"""``topicloom drill`` on overlays that were saved without Spark."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import main


@pytest.fixture
def interest():
    return tl.Interest.from_pairs(list("abcdeab"), ["news"] * 5 + ["sport"] * 2)


@pytest.fixture
def path(interest, tmp_path):
    tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (3, 4)]).save(tmp_path / "path")
    return str(tmp_path / "path")


@pytest.fixture
def ring(interest, tmp_path):
    tl.harary_per_topic(interest, k=2).save(tmp_path / "ring")
    return str(tmp_path / "ring")


def run(capsys, *argv):
    code = main(["drill", *argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_named_failures(path, capsys):
    code, printed, _ = run(capsys, path, "--fail", "c")
    assert code == 1
    assert "down: c" in printed
    assert "1 topics cut, 0 hold, 1 untouched; 4 pairs of subscribers lost each other" in printed
    assert "3 of 5 nodes are single points of failure" in printed
    assert run(capsys, path, "--fail", "a", "--fail", "e")[0] == 0


def test_named_failures_as_json(path, capsys):
    code, printed, _ = run(capsys, path, "--fail", "c", "--json")
    facts = json.loads(printed)
    assert code == 1
    assert facts["drill"]["failed"] == ["c"]
    assert facts["drill"]["cut"] == [{"topic": "news", "pieces": [2, 2], "lost_pairs": 4}]
    assert facts["weak_nodes"][0] == {"node": "c", "topics_cut": 1, "lost_pairs": 4}


def test_a_two_connected_overlay_has_no_weak_node(ring, capsys):
    code, printed, _ = run(capsys, ring, "--random", "50")
    assert code == 0
    assert "no single point of failure" in printed
    code, printed, _ = run(capsys, ring, "--random", "50", "--size", "2", "--seed", "1")
    assert code == 1
    assert "the worst of them" in printed
    code, printed, _ = run(capsys, ring, "--random", "5", "--size", "1", "--json")
    assert json.loads(printed)["random"]["drills_with_cuts"] == 0


def test_without_a_drill_the_weak_nodes_are_listed(path, ring, capsys):
    assert run(capsys, path)[0] == 1
    assert run(capsys, ring)[0] == 0


def test_overlays_without_labels(tmp_path, capsys):
    tl.gm2(tl.generate(nodes=30, topics=5, subscriptions=2, seed=0)).save(tmp_path / "overlay")
    assert run(capsys, str(tmp_path / "overlay"), "--random", "20")[0] == 0


def test_refusals(path, tmp_path, capsys):
    assert run(capsys, path, "--fail", "nobody")[0] == 2
    assert run(capsys, path, "--fail", "a", "--random", "3") == (
        2,
        "",
        "topicloom: --fail and --random exclude each other: name the nodes, or let them be drawn\n",
    )
    assert run(capsys, path, "--random", "3", "--size", "6")[0] == 2
    assert run(capsys, str(tmp_path / "nothing"))[0] == 2


def test_several_failures_that_cut_a_topic_exit_with_1_where_no_node_alone_does(tmp_path, capsys):
    """Defect 3: a ring of four survives any one of them, and a and c together cut b from d."""
    ring = tl.Overlay(tl.Interest.from_pairs(list("abcd"), ["t"] * 4), [(0, 1), (1, 2), (2, 3), (3, 0)])
    ring.save(tmp_path / "o")
    assert main(["drill", str(tmp_path / "o")]) == 0
    assert main(["drill", str(tmp_path / "o"), "--fail", "a"]) == 0
    assert main(["drill", str(tmp_path / "o"), "--fail", "a", "--fail", "c"]) == 1
    assert main(["drill", str(tmp_path / "o"), "--random", "50", "--size", "2"]) == 1
    assert "no single point of failure" in capsys.readouterr().out
