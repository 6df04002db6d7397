"""Commands without Spark on a table of links and one of subscriptions, as people have them."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import main

COLUMNS = ("--node-column", "Broker", "--topic-column", "Filter")


@pytest.fixture
def tables(tmp_path):
    subscriptions, links = tmp_path / "subs.csv", tmp_path / "today.csv"
    subscriptions.write_text("Broker;Filter\na;x\nb;x\nc;x\nc;y\nd;y\n;y\n")
    links.write_text("from,to\na,b\nb,c\nc,d\nd,c\na,a\nhub,a\nhub,b\nb\n")
    given = ("--subscriptions", str(subscriptions), *COLUMNS, "--src-column", "from", "--dst-column", "to")
    given = (*given, "--lenient")  # two rows of the tables are no rows
    return str(links), given


def run(capsys, *argv):
    code = main([str(argument) for argument in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_drill_and_status_take_a_table_of_links(tables, capsys):
    links, given = tables
    code, printed, said = run(capsys, "drill", links, *given)
    assert code == 1 and "2 of 5 nodes are single points of failure" not in printed
    assert "1 of 5 nodes are single points of failure" in printed  # b; the failure of c leaves y with one subscriber
    assert "6 rows = 5 used + 0 repeated + 1 rejected" in said and "node is empty" in said
    assert "finding: 'hub' is a transit node" in said and "finding: 'a' is linked with itself" in said
    assert "line 9: 'b': 1 field, 2 are expected" in said
    code, printed, _ = run(capsys, "status", links, *given, "--json")
    facts = json.loads(printed)
    assert code == 0 and facts["ok"] and facts["links"] == 5 and facts["fresh"]["method"] == "low-oda"
    assert facts["link_findings"]["transit"] == ["hub"] and facts["link_findings"]["rejected"] == 1


def test_churn_goes_on_from_a_table_of_links(tables, tmp_path, capsys):
    links, given = tables
    (tmp_path / "events.jsonl").write_text('{"event": "leave", "node": "b"}\n{"event": "leave", "node": "hub"}\n')
    code, _, said = run(capsys, "churn", links, tmp_path / "events.jsonl", tmp_path / "after", *given)
    assert code == 0, said
    after = tl.Overlay.load(tmp_path / "after")
    assert after.verify().ok and after.interest.node_labels.tolist() == ["a", "c", "d"]


def test_topics_in_pieces_are_said_before_any_failure(tables, tmp_path, capsys):
    _, given = tables
    (tmp_path / "few.csv").write_text("from,to\na,b\n")
    code, printed, _ = run(capsys, "drill", tmp_path / "few.csv", *given)
    assert code == 1 and "2 topics are in pieces before anything fails" in printed
    assert "every topic survives" not in printed


def test_a_table_of_links_alone_is_refused_with_what_to_say(tables, tmp_path, capsys):
    code, _, said = run(capsys, "drill", tables[0])
    assert code == 2 and "name the subscriptions with --subscriptions FILE" in said
    code, _, said = run(capsys, "drill", tables[0], *tables[1][:2])
    assert code == 2 and "perhaps --node-column 'Broker'" in said


def test_names_are_never_cut_for_programs(tmp_path, capsys):
    long = "plant/" + 40 * "north-"  # 246 characters
    interest = tl.Interest.from_pairs([f"{long}{i}" for i in range(3)], [long] * 3)
    tl.Overlay.from_links(interest, [(0, 1), (1, 2)]).save(tmp_path / "overlay")
    code, printed, _ = run(capsys, "drill", tmp_path / "overlay", "--fail", f"{long}1")
    assert code == 1 and "…" not in printed
    assert f"down: {long}1\n" in printed and any(line.startswith(f"{long} ") for line in printed.splitlines())
    _, printed, _ = run(capsys, "drill", tmp_path / "overlay", "--json")
    assert json.loads(printed)["weak_nodes"][0]["node"] == f"{long}1"
