"""``design --network`` and what the commands after it say: prices, sites, relays, limits."""

import json
import re
from pathlib import Path

import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.errors import InvalidLinksError
from topicloom.judge import verify_network
from topicloom.measures import measure_network
from topicloom.model import Network, Overlay
from topicloom.page import document, gather
from topicloom.routing.loads import loads

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "network.md"
NODES = """node,site,max_links,relay,price_of_relaying,accepts
k1,koeln,,,,no
k2,koeln,4,,,
k3,koeln,,,,
n1,nuernberg,,,,
n2,nuernberg,,,,
g1,graz,,,,
hub,cloud,4,yes,0.5,
"""
SITE_PAIRS = "from,to,price\nkoeln,nuernberg,30\nkoeln,cloud,10\nnuernberg,cloud,10\ngraz,cloud,12\n"
WANTS = {"oee": ["k1", "k2", "n1", "n2", "g1"], "alarms": ["k2", "k3", "n1", "n2", "g1"]}
LINKS = [("k1", "k2"), ("k2", "k3"), ("k2", "hub"), ("n1", "n2"), ("n1", "hub"), ("g1", "hub")]


@pytest.fixture
def given(tmp_path):
    """A table of subscriptions and the folder of a network, with a hub in the cloud that alone reaches Graz."""
    rows = "".join(f"{node},{topic}\n" for topic, nodes in WANTS.items() for node in nodes)
    (tmp_path / "s.csv").write_text(f"node,topic\n{rows}")
    net = tmp_path / "net"
    net.mkdir()
    (net / "nodes.csv").write_text(NODES)
    (net / "site_pairs.csv").write_text(SITE_PAIRS)
    (net / "topics.csv").write_text("topic,rate\noee,2\nalarms,0.5\n")
    (net / "pairs.csv").write_text("src,dst,standing\nk1,k2,yes\nk1,k3,yes\n")
    return tmp_path


@pytest.fixture
def by_hand(given):
    """An overlay for it that was made by hand, in a directory."""
    network = Network.read(given / "net")
    pairs = [(node, topic) for topic, nodes in WANTS.items() for node in nodes]
    interest = network.widened(tl.Interest.from_pairs(*zip(*pairs)))
    relays = [(interest.node_id("hub"), t) for t in range(2)]
    links = Overlay.from_links(interest, LINKS).links
    overlay = Overlay(interest, links, "given", relays=relays, network=network)
    overlay.save(given / "hand")
    return overlay


def ran(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_measure_says_what_it_costs_by_pair_of_sites_and_who_relays(given, by_hand, capsys):
    code, out, _ = ran(capsys, "measure", given / "s.csv", given / "hand", "--json")
    facts = json.loads(out)["network"]
    assert (code, facts["price"], facts["price_of_relays"], facts["wan_links"], facts["wan_price"]) == (0, 36, 1, 3, 32)
    assert facts["by_sites"][0] == {"src": "cloud", "dst": "graz", "links": 1, "price": 12.0}
    assert facts["relays"] == [{"node": "hub", "topics": 2, "price": 1.0}]
    assert (facts["kept"], facts["added"], facts["removed"]) == (1, 5, 1)
    assert {(load["src"], load["dst"]): load["rate"] for load in facts["loads"]} == {
        ("g1", "hub"): 2.5, ("hub", "k2"): 2.5, ("hub", "n1"): 2.5, ("n1", "n2"): 2.5,
        ("k1", "k2"): 2, ("k2", "k3"): 0.5,
    }  # fmt: skip
    assert facts["node_loads"][0] == {"node": "hub", "rows": 6, "rate": 7.5}
    _, out, _ = ran(capsys, "measure", given / "hand", given / "hand")
    assert "cloud – graz" in out
    assert "inside koeln" in out


def test_verify_judges_by_the_rules_of_the_network(given, by_hand, capsys):
    code, out, _ = ran(capsys, "verify", given / "s.csv", given / "hand")
    assert (code, out.startswith("holds: all 2 topics")) == (0, True)
    Overlay(by_hand.interest, by_hand.links, network=by_hand.network).save(given / "bare")
    code, out, _ = ran(capsys, "verify", given / "s.csv", given / "bare", "--json")
    assert (code, json.loads(out)["network"]["faults"]) == (1, {"broken-topic": 2})
    code, _, err = ran(capsys, "verify", given / "s.csv", given / "hand", "--engine", "distributed")
    assert (code, "is not judged by many tasks" in err) == (2, True)
    code, _, err = ran(capsys, "verify", given / "s.csv", given / "hand", "--k", "2")
    assert (code, "where nodes relay topics, 1 is accepted" in err) == (2, True)


def test_compare_says_what_methods_and_links_of_today_cost_on_the_network(given, by_hand, capsys):
    pytest.importorskip("topicloom.methods.network")
    asked = ("compare", given / "s.csv", given / "c", "--network", given / "net", "--methods", "gm,ring-pt")
    code, out, err = ran(capsys, *asked, "--links", given / "hand", "--json")
    assert code == 0, err
    rows = {row["name"]: row for row in json.loads(out)["results"]}
    assert list(rows) == ["what you have", "gm", "ring-pt", "network"]
    assert (rows["what you have"]["price"], rows["what you have"]["wan_links"]) == (35, 3)  # its links alone
    assert rows["gm"]["price"] is None
    assert rows["gm"]["links_that_may_not_be"] >= 1  # Graz reaches the cloud alone
    assert rows["network"]["price"] == 36
    code, out, _ = ran(capsys, *asked, "--overwrite")
    assert "links that may not be" in out
    without = ("compare", given / "s.csv", given / "d", "--engine", "memory", "--methods", "gm", "--json")
    _, out, _ = ran(capsys, *without)
    assert "price" not in json.loads(out)["results"][0]


def test_drill_says_which_sites_cut_topics(given, by_hand, capsys):
    _, out, _ = ran(capsys, "drill", given / "hand", "--json")
    assert json.loads(out)["units"] == {"column": "site", "count": 4, "topics_cut": {"cloud": 2}}
    _, out, _ = ran(capsys, "drill", given / "hand")
    assert "the loss of 1 of 4 sites cuts a topic" in out


def test_diff_of_two_overlays_says_both_prices(given, by_hand, capsys):
    dearer = Overlay.from_links(by_hand.interest, [*LINKS, ("k3", "n1")]).links
    Overlay(by_hand.interest, dearer, relays=by_hand.relays, network=by_hand.network).save(given / "dearer")
    code, out, _ = ran(capsys, "diff", given / "hand", given / "dearer", "--json")
    assert (code, json.loads(out)["prices"], json.loads(out)["added"]) == (1, [36, 66], [["k3", "n1"]])


def test_refine_and_churn_refuse_it_by_name(given, by_hand, capsys):
    (given / "events.jsonl").write_text('{"at": 1, "id": "1", "kind": "leave", "node": "k3"}\n')
    for command in (
        ("refine", given / "hand", given / "o"),
        ("churn", given / "hand", given / "events.jsonl", given / "o"),
    ):
        code, _, err = ran(capsys, *command)
        assert code == 2
        assert "does not keep to the network of the overlay (prices, who may dial between sites" in err


def test_routes_are_dialled_by_ends_that_may(given, by_hand):
    made = tl.routes(by_hand)
    assert made.verify().ok
    names = by_hand.interest.node_label
    for row in range(len(made.topic)):
        owner, ends = made.owner[row], (made.src[row], made.dst[row])
        assert by_hand.network.may_dial(names(owner), names(sum(ends) - owner))
    one_way = {"node": list("abc"), "site": list("xyz")}
    rows = [
        {"from": s, "to": t, "may_dial": may}
        for s, t, may in (("x", "y", 1), ("y", "x", 0), ("y", "z", 1), ("z", "y", 0))
    ]
    network = Network.from_tables(one_way, site_pairs=rows)
    interest = tl.Interest.from_pairs(list("abc"), ["t"] * 3)
    made = tl.routes(Overlay(interest, [(0, 1), (1, 2)], network=network))
    assert made.owner.tolist() == [0, 1]  # x dials y, and y dials z
    rows += [{"from": "z", "to": "x", "may_dial": 1}, {"from": "x", "to": "z", "may_dial": 0}]
    circle = Overlay(interest, [(0, 1), (1, 2), (0, 2)], network=Network.from_tables(one_way, site_pairs=rows))
    with pytest.raises(InvalidLinksError, match="may only dial each other in a circle"):
        tl.routes(circle)


def test_a_plan_over_relays_is_exported_and_loads_add_up(given, by_hand, capsys):
    assert ran(capsys, "routes", given / "hand", given / "plan")[0] == 0
    plan = tl.Plan.load(given / "plan")
    links, nodes = loads(plan.routes, {"oee": 2.0, "alarms": 0.5})
    assert sum(load.rate for load in links) == 2 * 5 + 0.5 * 5
    assert sum(load.rate for load in nodes) == 2 * sum(load.rate for load in links)


def test_options_that_contradict_a_network_are_refused_by_name(given, capsys):
    wrong = {
        ("--k", "2"): "--k cannot stand beside --network",
        ("--method", "gm"): "--method cannot stand beside --network",
        ("--rho", "3", "--bound"): "--bound, --rho cannot stand beside --network",
        ("--engine", "distributed"): "--network is for designs of one task",
        ("--survive", "rack"): "nodes have no column 'rack'",
        ("--keep", "1"): "keep is 1.0; a number from 0 to below 1",
    }
    for options, sentence in wrong.items():
        engine = () if "--engine" in options else ("--engine", "memory")
        code, _, err = ran(
            capsys, "design", given / "s.csv", given / "o", "--network", given / "net", *options, *engine
        )
        assert (code, sentence in err) == (2, True), err
    code, _, err = ran(capsys, "design", given / "s.csv", given / "o", "--survive", "site", "--engine", "memory")
    assert (code, "--survive and --keep are for a design with --network" in err) == (2, True)
    (given / "net" / "nodes.csv").write_text("node,site\nk1,koeln\nk1,graz\n")
    code, _, err = ran(capsys, "design", given / "s.csv", given / "o", "--network", given / "net")
    assert (code, "nodes.csv line 3: 'k1' stands twice" in err) == (2, True)


def test_design_keeps_the_network_the_relays_and_every_rule(given, capsys):
    pytest.importorskip("topicloom.methods.network")
    asked = ("design", given / "s.csv", given / "o", "--network", given / "net", "--engine", "memory", "--json")
    code, out, err = ran(capsys, *asked)
    assert code == 0, err
    made = Overlay.load(given / "o")
    assert (made.method, dict(made.options)) == ("network", {"keep": 0.0})
    assert made.network == Network.read(given / "net")
    assert verify_network(made.interest, made, made.network).ok
    assert json.loads(out)["network"]["price"] == measure_network(made).price <= 36
    assert made.interest.node_labels.tolist() == sorted(["k1", "k2", "k3", "n1", "n2", "g1", "hub"])
    assert ran(capsys, "routes", given / "o", given / "plan")[0] == 0


def test_one_task_of_spark_gives_the_same_links(given, shared_session, capsys):
    pytest.importorskip("topicloom.methods.network")
    made = []
    for engine in ("memory", "spark"):
        asked = ("design", given / "s.csv", given / engine, "--network", given / "net", "--engine", engine)
        assert ran(capsys, *asked)[0] == 0
        made.append(Overlay.load(given / engine))
    assert made[0] == made[1]
    assert made[0].links.tolist() == made[1].links.tolist()
    assert made[0].network == made[1].network


def test_the_page_shows_costs_and_sites_and_relays_as_carriers(given, by_hand, capsys):
    assert ran(capsys, "routes", given / "hand", given / "plan")[0] == 0
    assert ran(capsys, "show", given / "hand", given / "page.html", "--plan", given / "plan")[0] == 0
    text = (given / "page.html").read_text()
    assert "Price 36.00: links 35.00, relays 1.00. 3 links between sites cost 32.00." in text
    assert "<th scope=row><bdi>cloud – graz</bdi></th><td class=number>1</td><td class=number>12.00</td>" in text
    picture = gather(by_hand, title="x")
    assert (picture.verdict.ok, picture.groups.word, len(picture.groups.names)) == (True, "site", 4)
    assert 'id="costs"' not in document(gather(tl.design(tl.datasets.example()), title="x"))


def test_routes_on_spark_refuse_it_by_name(given, by_hand, capsys):
    code, _, err = ran(capsys, "routes", given / "hand", given / "plan", "--engine", "spark")
    assert (code, "on Spark routes know no relays and no network" in err) == (2, True)


def test_a_topic_that_cannot_be_connected_is_named_with_the_relay_that_would_mend_it(given, capsys):
    pytest.importorskip("topicloom.methods.network")
    (given / "net" / "nodes.csv").write_text(NODES.replace("hub,cloud,4,yes,0.5,", "hub,cloud,4,no,,"))
    with (given / "s.csv").open("a") as table:
        table.write("hub,weather\n")
    code, _, err = ran(capsys, "design", given / "s.csv", given / "o", "--network", given / "net", "--engine", "memory")
    assert code in (1, 2)
    groups = "every link between {'g1'} and {'k1', 'k2', 'n1', 'n2'} is forbidden"
    assert f"topic 'oee' cannot be connected: {groups}; it could be if 'hub' might relay" in err


def test_a_site_that_cannot_be_spared_fails_the_design_by_name(given, capsys):
    pytest.importorskip("topicloom.methods.network")
    asked = ("design", given / "s.csv", given / "o", "--network", given / "net", "--survive", "site")
    code, _, err = ran(capsys, *asked, "--engine", "memory")
    assert code in (1, 2)
    assert "'cloud'" in err or "'g1'" in err


def test_the_guide_can_be_followed(tmp_path, capsys):
    text = GUIDE.read_text()
    pytest.importorskip("topicloom.methods.network")
    (tmp_path / "net").mkdir()
    for name, table in re.findall(r"`((?:net/)?\w+\.csv)`:?\n\n```\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(table)
    asked = ("design", tmp_path / "subs.csv", tmp_path / "o", "--network", tmp_path / "net", "--engine", "memory")
    code, out, _ = ran(capsys, *asked)
    assert code == 0
    shown = re.search(r"```\n(on the network.*?)```", text, re.DOTALL)[1]
    assert [line.rstrip() for line in shown.splitlines()] == [
        line.rstrip() for line in out[out.index("on the network") : out.index("busiest links")].splitlines()
    ]
    code, _, err = ran(capsys, *asked, "--survive", "site", "--overwrite")
    assert code == 1
    found = re.search(r"```\n(topic 'alarms' cannot .*?)\n```", text, re.DOTALL)
    assert found[1].replace("\n", " ") in err
    with (tmp_path / "net" / "site_pairs.csv").open("a") as rows:
        rows.write("graz,nuernberg,40,\n")
    assert ran(capsys, *asked, "--survive", "site", "--overwrite")[0] == 0
