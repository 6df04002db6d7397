"""``topicloom routes``, ``diff`` and ``plan``: from links to a plan, and from one plan to the next, without a JVM."""

import json

import pyarrow.parquet as pq
import pytest

import topicloom as tl
from topicloom.cli import main
from topicloom.errors import InvalidInventoryError

ROWS = [("a", "x"), ("b", "x"), ("c", "x"), ("d", "x"), ("a", "y"), ("b", "y")]
INTEREST = tl.Interest.from_pairs([n for n, _ in ROWS], [t for _, t in ROWS])


@pytest.fixture
def overlay(tmp_path):
    tl.Overlay(INTEREST, [(0, 1), (1, 2), (2, 3), (0, 3)]).save(tmp_path / "overlay")
    return str(tmp_path / "overlay")


def test_routes_writes_a_plan_and_says_what_is_in_it(overlay, tmp_path, capsys):
    assert main(["routes", overlay, str(tmp_path / "plan"), "--standby", "1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["ok"], facts["rows"], facts["standby_rows"], facts["forests"]) == (True, 4, 1, 0)
    assert tl.Plan.load(tmp_path / "plan").routes.verify().ok
    assert pq.read_table(tmp_path / "plan" / "routes").num_rows == 5


def test_a_plan_is_replaced_only_when_asked_and_then_keeps_its_trees(overlay, tmp_path, capsys):
    plan = str(tmp_path / "plan")
    assert main(["routes", overlay, plan]) == 0
    assert main(["routes", overlay, plan]) == 2
    assert "--overwrite" in capsys.readouterr().err
    more = tl.Overlay(INTEREST, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)])
    more.save(tmp_path / "more")
    first = tl.Plan.load(plan).generation
    assert main(["routes", str(tmp_path / "more"), plan, "--overwrite", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rows_off"], facts["rows_on"], facts["generation"]) == (0, 0, first)
    assert main(["routes", str(tmp_path / "more"), plan, "--overwrite", "--fresh"]) == 0
    assert tl.Plan.load(plan).routes.diameter("x") == 2


def test_some_brokers_get_forests(overlay, tmp_path, capsys):
    assert main(["routes", overlay, str(tmp_path / "plan"), "--for", "nats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forests"] == 1
    assert tl.Plan.load(tmp_path / "plan").target == "nats"
    assert main(["routes", overlay, str(tmp_path / "other"), "--for", "pigeons"]) == 2
    assert "mosquitto" in capsys.readouterr().err


def test_brokers_of_several_kinds_and_of_another_kind_than_asked_for_are_refused(overlay, tmp_path, capsys):
    brokers = tmp_path / "brokers.csv"
    brokers.write_text("node,host,port,kind\na,h,1,mosquitto\nb,h,2,nats\nc,h,3,nats\nd,h,4,\n")
    assert main(["routes", overlay, str(tmp_path / "plan"), "--inventory", str(brokers)]) == 2
    assert "2 kinds (mosquitto: 'a'; nats: 'b', 'c')" in capsys.readouterr().err
    with pytest.raises(InvalidInventoryError, match="2 kinds"):
        tl.routes(tl.Overlay.load(overlay), inventory=tl.Inventory.load(brokers))
    brokers.write_text("node,host,port,kind\na,h,1,nats\nb,h,2,nats\nc,h,3,nats\nd,h,4,\n")
    assert main(["routes", overlay, str(tmp_path / "plan"), "--inventory", str(brokers), "--for", "zenoh"]) == 2
    assert "'a' is a nats in the inventory, not a zenoh" in capsys.readouterr().err
    assert not (tmp_path / "plan").exists()
    assert main(["routes", overlay, str(tmp_path / "plan"), "--inventory", str(brokers), "--for", "nats"]) == 0


def test_rates_are_read_from_a_table(overlay, tmp_path, capsys):
    rates = tmp_path / "rates.csv"
    rates.write_text("topic,rate\nx,2.5\ny,1\n")
    assert main(["routes", overlay, str(tmp_path / "plan"), "--rates", str(rates)]) == 0
    rates.write_text("topic,rate\nx,fast\n")
    assert main(["routes", overlay, str(tmp_path / "other"), "--rates", str(rates)]) == 2
    assert "rate 'fast' of topic 'x' is not a number" in capsys.readouterr().err
    rates.write_text("name,rate\nx,1\n")
    assert main(["routes", overlay, str(tmp_path / "other"), "--rates", str(rates)]) == 2
    assert "'topic'" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_keep_and_fresh_exclude_each_other(overlay, tmp_path):
    assert main(["routes", overlay, str(tmp_path / "plan"), "--keep", overlay, "--fresh"]) == 2


def test_diff_says_nothing_changes_steps_or_bad_input(overlay, tmp_path, capsys):
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    main(["routes", overlay, one])
    tl.Overlay(INTEREST, [(0, 1), (0, 2), (2, 3), (0, 3)]).save(tmp_path / "other")
    main(["routes", str(tmp_path / "other"), two, "--for", "mosquitto"])
    capsys.readouterr()
    assert main(["diff", one, one]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert main(["diff", one, two]) == 1
    printed = capsys.readouterr().out
    assert printed.index("rows off") < printed.index("barrier") < printed.index("rows on")
    assert "(firewalls!)" in printed
    assert main(["diff", one, two, "--json"]) == 1
    steps = json.loads(capsys.readouterr().out)
    assert [step["step"] for step in steps["steps"]] == ["off", "barrier", "on"]
    assert {broker["how"] for broker in steps["touched"]} <= {"gate", "restart"}
    assert main(["diff", one, str(tmp_path / "nowhere")]) == 2


def test_plan_makes_the_events_that_churn_applies(overlay, tmp_path, capsys):
    today = tmp_path / "today.csv"
    today.write_text("node,topic\na,x\nb,x\nc,x\na,y\nb,y\nc,y\nb,z\ne,x\ne,\x1bz\n")
    assert main(["plan", str(today), "--from", overlay, "--events", str(tmp_path / "events.jsonl")]) == 1
    printed = capsys.readouterr().out
    assert "+ e  joins with \\x1bz, x" in printed
    assert "- d  leaves" in printed
    assert "~ c  + y" in printed
    assert "plan: 1 to join, 2 to change, 1 to leave" in printed
    assert main(["churn", overlay, str(tmp_path / "events.jsonl"), str(tmp_path / "after")]) == 0
    assert main(["plan", str(today), "--from", str(tmp_path / "after")]) == 0
    assert "no changes" in capsys.readouterr().out


def test_plan_as_json_lists_events_and_links(overlay, tmp_path, capsys):
    today = tmp_path / "today.csv"
    today.write_text("node,topic\na,x\nb,x\nc,x\na,y\nb,y\n")
    assert main(["plan", str(today), "--from", overlay, "--json", "--links"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["changes"] == {"join": 0, "leave": 1, "subscribe": 0, "unsubscribe": 0}
    assert facts["events"] == [{"event": "leave", "node": "d"}]
    assert sorted(map(tuple, facts["links"]["removed"])) == [("a", "d"), ("c", "d")]


@pytest.mark.parametrize("text", ["device,topic\na,x\n", "node,topic\n,x\n"])
def test_a_table_that_cannot_be_read_is_bad_input(overlay, tmp_path, capsys, text):
    today = tmp_path / "today.csv"
    today.write_text(text)
    assert main(["plan", str(today), "--from", overlay]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("topicloom: ") and not any(
        line.startswith(("topicloom: ", "Trace")) for line in said[:-1]
    )


def test_existing_events_are_not_replaced(overlay, tmp_path, capsys):
    today, events = tmp_path / "today.csv", tmp_path / "events.jsonl"
    today.write_text("node,topic\na,x\n")
    events.write_text("mine")
    assert main(["plan", str(today), "--from", overlay, "--events", str(events)]) == 2
    assert events.read_text() == "mine"


def test_an_inventory_decides_who_dials(overlay, tmp_path, capsys):
    brokers = tmp_path / "brokers.csv"
    lines = ["a,10.0.0.1,1883,no,yes", "b,10.0.0.2,1883,yes,no", "c,10.0.0.3,1883,yes,yes", "d,10.0.0.4,1883,yes,no"]
    brokers.write_text("node,host,port,dials,accepts\n" + "\n".join(lines) + "\n")
    plan = tmp_path / "plan"
    assert main(["routes", overlay, str(plan), "--inventory", str(brokers)]) == 0
    rows = pq.read_table(plan / "links").to_pylist()
    assert {(row["src"], row["dst"]): row["owner"] for row in rows} == {
        ("a", "b"): "b", ("b", "c"): "b", ("c", "d"): "d", ("a", "d"): "d",
    }  # fmt: skip
    assert main(["diff", str(plan), str(plan), "--inventory", str(brokers)]) == 0
    brokers.write_text("node,host,port,dials,accepts\n" + "\n".join([*lines[:2], "c,10.0.0.3,1883,yes,no", lines[3]]))
    assert main(["routes", overlay, str(tmp_path / "other"), "--inventory", str(brokers)]) == 2
    assert "neither end may dial" in capsys.readouterr().err


def test_diff_of_links_says_what_goes_and_what_comes(tmp_path, capsys):
    overlay = tl.design(tl.datasets.example())
    overlay.save(tmp_path / "overlay")
    names = [tuple(map(overlay.interest.node_label, pair)) for pair in overlay.links]
    today = [(b, a) for a, b in names[1:]] + [("me", "me"), ("old", names[0][0])]
    rows = "\n".join(f"{a};{b}" for a, b in today)
    (tmp_path / "today.csv").write_text(f"From;To\n{rows}\n")
    columns = ["--src-column", "From", "--dst-column", "To"]
    assert main(["diff", str(tmp_path / "today.csv"), str(tmp_path / "overlay"), *columns, "--json"]) == 1
    printed = capsys.readouterr()
    facts = json.loads(printed.out)
    assert f"{len(names) + 1} rows = {len(names) + 1} used + 0 repeated + 0 rejected" in printed.err
    gone = sorted(("old", names[0][0]))
    assert facts == {"kept": len(names) - 1, "removed": [gone], "added": [sorted(names[0])]}
    assert main(["diff", str(tmp_path / "overlay"), str(tmp_path / "overlay" / "links.csv")]) == 0
    assert capsys.readouterr().out == f"0 links to remove\n0 links to add\nkept: {len(names)} links\n"
    assert main(["diff", str(tmp_path / "today.csv"), str(tmp_path / "none")]) == 2
    assert main(["diff", str(tmp_path / "overlay"), str(tmp_path / "today.csv"), "--links-no-header"]) == 1
    capsys.readouterr()
    assert main(["diff", str(tmp_path / "today.csv"), str(tmp_path / "overlay")]) == 2
    assert "say --links-no-header" in capsys.readouterr().err
