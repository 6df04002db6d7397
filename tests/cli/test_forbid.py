"""``design --forbid``: the overlay keeps off the pairs, and a topic that they cut is named with its groups."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.errors import InvalidLinksError
from topicloom.routing.ownership import undialled_pairs


class Broker:
    def __init__(self, dials: bool, accepts: bool) -> None:
        self.dials, self.accepts = dials, accepts


@pytest.fixture
def subscriptions(tmp_path):
    path = tmp_path / "subscriptions.csv"
    path.write_text("node,topic\n" + "".join(f"{node},{topic}\n" for topic in "xy" for node in "abcd"))
    return str(path)


def test_forbidden_pairs_are_not_linked_and_cut_topics_are_named(shared_session, subscriptions, tmp_path, capsys):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("src,dst\na,b\nzz,b\n")
    assert main(["design", subscriptions, str(tmp_path / "one"), "--forbid", str(pairs)]) == 0
    assert "1 of 2 forbidden pairs" in capsys.readouterr().err
    made = tl.Overlay.load(tmp_path / "one")
    assert made.links.tolist() == tl.greedy_merge(made.interest, forbid=[("a", "b")]).links.tolist()
    assert [0, 1] not in made.links.tolist()
    pairs.write_text("a,c\na,d\nb,c\nb,d\n")
    assert main(["design", subscriptions, str(tmp_path / "two"), "--forbid", str(pairs), "--links-no-header"]) == 1
    assert "topic 'x' cannot be connected: every link between {'a', 'b'} and {'c', 'd'} is forbidden" in (
        capsys.readouterr().err
    )


def test_methods_and_tables_that_cannot_be_used_are_refused_before_anything_is_read(subscriptions, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main(["design", subscriptions, out, "--forbid", "pairs.csv", "--method", "ring-pt"]) == 2
    assert "gm" in capsys.readouterr().err


def test_pairs_of_which_neither_may_dial_come_from_the_inventory():
    numbers = {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
    edge, hub, both, idle = Broker(True, False), Broker(False, True), Broker(True, True), Broker(False, False)
    brokers = {"a": edge, "b": edge, "c": hub, "d": hub, "e": both}
    assert undialled_pairs(numbers, brokers).tolist() == [[0, 1], [2, 3]]
    alone = undialled_pairs(numbers, {**brokers, "e": idle}).tolist()
    assert sorted(map(sorted, alone)) == [[0, 1], [0, 4], [1, 4], [2, 3], [2, 4], [3, 4]]
    with pytest.raises(InvalidLinksError, match="lacks 1 of 5 nodes, such as 'e'"):
        undialled_pairs(numbers, dict.fromkeys("abcd", edge))


@pytest.fixture
def designed(tmp_path):
    """The overlay of the trial's example, made without the pair a, b; and what runs a command on it."""
    (tmp_path / "s.csv").write_text("node,topic\na,t\nb,t\nc,t\na,u\nb,u\nd,u\n")
    (tmp_path / "f.csv").write_text("src,dst\na,b\n")
    run("design", tmp_path / "s.csv", tmp_path / "o", "--forbid", tmp_path / "f.csv", "--engine", "memory")
    return tmp_path


def run(*arguments):
    """Run a command that has to succeed."""
    assert main([str(argument) for argument in arguments]) == 0


def links_of(folder):
    made = tl.Overlay.load(folder)
    return {tuple(map(made.interest.node_label, link)) for link in made.links.tolist()}


def test_refine_and_churn_keep_off_what_design_was_told(designed):
    run("refine", designed / "o", designed / "refined", "--effort", "30")
    assert len(links_of(designed / "refined")) == 4 and ("a", "b") not in links_of(designed / "refined")
    (designed / "events.jsonl").write_text(
        '{"event": "join", "node": "e", "topics": ["t", "u"]}\n{"event": "leave", "node": "c"}\n'
    )
    for policy in ("shadow", "naive", "rebuild"):
        out = designed / f"churned {policy}"
        run("churn", designed / "refined", designed / "events.jsonl", out, "--policy", policy)
        assert ("a", "b") not in links_of(out) and tl.Overlay.load(out).verify().ok
        assert tl.Overlay.load(out).forbidden.pairs == {("a", "b")}


def test_an_event_that_forbidden_links_make_impossible_is_rejected_by_name(designed, capsys):
    (designed / "events.jsonl").write_text('{"event": "leave", "node": "c"}\n')
    given = [str(designed / name) for name in ("o", "events.jsonl", "out")]
    assert main(["churn", *given]) == 1
    said = capsys.readouterr().err
    assert (
        "node 'c' cannot leave: topic 't' cannot be connected: every link between {'a'} and {'b'} is forbidden" in said
    )
    assert main(["churn", *given, "--rebalance", "1.5", "--overwrite"]) == 2
    assert "rebalance does not keep off forbidden links" in capsys.readouterr().err


def test_design_refines_without_forbidden_links(designed):
    given = ["--forbid", designed / "f.csv", "--refine", "20", "--engine", "memory"]
    run("design", designed / "s.csv", designed / "one", *given)
    assert len(links_of(designed / "one")) == 4 and ("a", "b") not in links_of(designed / "one")


def test_auto_chooses_a_method_that_keeps_off_forbidden_links(designed, capsys):
    inventory = designed / "brokers.csv"
    inventory.write_text(
        "node,host,port,dials,accepts\n" + "".join(f"{v},{v},1,yes,{'no' if v in 'ab' else 'yes'}\n" for v in "abcde")
    )
    given = ["--inventory", inventory, "--method", "auto", "--engine", "memory"]
    run("design", designed / "s.csv", designed / "auto", *given)
    made = tl.Overlay.load(designed / "auto")
    assert made.method == "weighted-gm" and ("a", "b") not in links_of(designed / "auto")
    assert made.forbidden.no_accept == {"a", "b"}
    run("refine", designed / "auto", designed / "refined")
    run("routes", designed / "refined", designed / "plan", "--inventory", inventory)
    (designed / "events.jsonl").write_text('{"event": "join", "node": "e", "topics": ["t", "u"]}\n')
    run("churn", designed / "refined", designed / "events.jsonl", designed / "churned")
    run("routes", designed / "churned", designed / "plan 2", "--inventory", inventory)


def test_verify_and_measure_say_that_links_are_forbidden(designed, capsys):
    (designed / "links.csv").write_text("src,dst\na,b\nb,c\nb,d\n")
    given = [str(designed / "o"), str(designed / "links.csv"), "--engine", "memory"]
    assert main(["verify", *given]) == 1
    found = capsys.readouterr()
    assert "1 links are forbidden by the overlay directory, such as a – b" in found.err
    assert found.out == "broken: 1 links are forbidden; all topics are topic-connected\n"
    assert main(["verify", *given, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["forbidden_links"] == [["a", "b"]]
    assert main(["measure", *given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forbidden_links"] == [["a", "b"]]
    run("verify", designed / "o", designed / "o", "--engine", "memory")


def test_plan_counts_the_links_that_may_come(designed, capsys):
    (designed / "today.csv").write_text("node,topic\na,t\nb,t\nc,t\na,u\nb,u\nd,u\ne,t\ne,u\n")
    assert main(["plan", str(designed / "today.csv"), "--from", str(designed / "o"), "--links", "--json"]) == 1
    assert ["a", "b"] not in json.loads(capsys.readouterr().out)["links"]["added"]


def test_links_given_beside_subscriptions_keep_what_either_directory_forbids(designed, capsys):
    (designed / "events.jsonl").write_text('{"event": "join", "node": "e", "topics": ["t", "u"]}\n')
    given = ["churn", designed / "o", designed / "events.jsonl", designed / "out"]
    run(*given, "--subscriptions", designed / "s.csv")
    assert tl.Overlay.load(designed / "out").forbidden.pairs == {("a", "b")}
    (designed / "links.csv").write_text("src,dst\na,b\nb,c\nb,d\n")
    given = ["churn", designed / "links.csv", designed / "events.jsonl", designed / "out 2"]
    assert main([str(one) for one in [*given, "--subscriptions", designed / "o"]]) == 2
    assert "1 links are forbidden, such as 'a' – 'b'" in capsys.readouterr().err


def test_an_overlay_directory_without_the_part_is_read_as_before(designed):
    run("design", designed / "s.csv", designed / "free", "--engine", "memory")
    assert not (designed / "free" / "forbidden").exists() and not tl.Overlay.load(designed / "free").forbidden
    assert ("a", "b") in links_of(designed / "free")
