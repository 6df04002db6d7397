"""Exports: the same plan gives the same bytes, whole folders, gates and fail-over files that mean what they say."""

import hashlib
import json
import re

import networkx as nx
import pyarrow as pa
import pytest

import topicloom as tl
from support.broker_networks import SECURED, chain, loopback, network_of, planned, stand_in, table, with_standby
from topicloom.brokers.nats.nats import NatsGates, subject
from topicloom.cli import main
from topicloom.deploy import TARGETS, Broker, Inventory, Network, Tls, export, export_files, write_export
from topicloom.errors import InvalidInventoryError, InvalidOptionError, InvalidPlanError, OutputExistsError

SMALL = stand_in(nodes=12, topics=20)


@pytest.fixture(scope="module")
def standing_by():
    return with_standby(tl.design(SMALL, "gm2"))


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_the_same_plan_gives_the_same_bytes_whatever_the_order_of_its_rows(standing_by, target):
    inventory = loopback(standing_by, **SECURED.get(target, {}))
    turned = network_of([(*row[:4], row.active) for row in reversed(standing_by.rows)])
    one, other = (export_files(export(network, target, inventory)) for network in (standing_by, turned))
    assert {path: text for path, text in one.items() if path.endswith((".acl", ".csv", "ORDER"))} == {
        path: text for path, text in other.items() if path.endswith((".acl", ".csv", "ORDER"))
    }
    assert one == export_files(export(standing_by, target, inventory))


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_the_manifest_and_the_table_of_brokers_are_true(tmp_path, target):
    network = planned(SMALL)
    write_export(export(network, target, loopback(network, **SECURED.get(target, {}))), tmp_path / "out")
    lines = (tmp_path / "out" / "MANIFEST").read_text().splitlines()
    for line in lines:
        digest, _, path = line.partition("  ")
        assert hashlib.sha256((tmp_path / "out" / path).read_bytes()).hexdigest() == digest
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert written == {line.partition("  ")[2] for line in lines} | {"MANIFEST"}
    brokers = table((tmp_path / "out" / "brokers.csv").read_text())
    assert {row["node"] for row in brokers} == set(network.nodes)
    assert all((tmp_path / "out" / row["file"]).is_file() for row in brokers)


def test_a_broker_is_started_after_those_that_it_dials():
    network = planned(SMALL)
    levels = export(network, "mosquitto", loopback(network)).levels
    place = {slug: number for number, level in enumerate(levels) for slug in level}
    assert all(place[owner] > place[acceptor] for owner, acceptor in network.links)


def bridges(text):
    """Bridge name to its topics, read from a configuration."""
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("connection "):
            name = line.split(" ")[1]
            found[name] = set()
        if line.startswith("topic "):
            found[name].add(line.split(" ")[1])
    return found


def test_the_busiest_broker_is_the_one_that_passes_most_on_and_not_the_one_of_most_rows():
    rows = [("t", "a", "b", "a"), ("t", "b", "c", "b"), *((topic, "d", "e", "d") for topic in "uvw")]
    assert network_of(rows).busiest() == ("b", "d", "e", "a", "c")


def test_the_files_hold_every_row_once_and_shut_exactly_the_standby_rows(standing_by):
    files = export(standing_by, "mosquitto", loopback(standing_by)).files
    configured, shut = set(), set()
    for path, text in files.items():
        if path.endswith(".conf"):
            for name, topics in bridges(text).items():
                configured |= {(*name.split("--"), topic) for topic in topics}
        elif path.count("/") == 0 and path.endswith(".acl") and "fenced" not in path:
            user = None
            for line in text.splitlines():
                if line.startswith("user "):
                    user = line.removeprefix("user tl-")
                if line.startswith("topic deny "):
                    shut.add((*user.split("--"), line.removeprefix("topic deny ")))
    assert configured == {(*row.dial, row.topic) for row in standing_by.rows}
    assert shut == {(*row.dial, row.topic) for row in standing_by.rows if not row.active}


def test_after_any_one_death_the_open_rows_are_a_spanning_tree_of_the_survivors(standing_by):
    for dead in standing_by.nodes:
        opened = standing_by.open_rows(dead)
        for topic, nodes in standing_by.subscribers.items():
            survivors = set(nodes) - {dead}
            rows = [row for row in opened if row.topic == topic]
            assert len(rows) == max(len(survivors) - 1, 0)
            reached, grown = set(sorted(survivors)[:1]), True
            while grown:
                new = {end for row in rows for end in row[1:3] if row.src in reached or row.dst in reached}
                grown, reached = not new <= reached, reached | new
            assert reached == survivors
        assert {row for row in standing_by.open_rows() if dead not in row[1:3]} <= opened


def test_fail_over_files_are_listed_with_what_they_open_and_shut(standing_by):
    files = export(standing_by, "mosquitto", loopback(standing_by)).files
    normal = standing_by.open_rows()
    for row in table(files["failover.csv"]):
        after = standing_by.open_rows(row["dead"])
        assert int(row["opens"]) == sum(one.acceptor == row["broker"] for one in after - normal)
        assert int(row["shuts"]) == sum(one.acceptor == row["broker"] for one in normal - after)
        assert row["file"] in files and row["broker"] != row["dead"]


def test_a_plan_without_standby_rows_needs_no_gates_unless_they_are_asked_for():
    network = chain(["a", "b", "c"])
    assert not any(".acl" in path for path in export(network, "mosquitto", loopback(network)).files)
    assert "a.acl" in export(network, "mosquitto", loopback(network), gates=True).files


def test_no_secret_and_no_name_of_a_broker_stands_in_a_file(monkeypatch):
    monkeypatch.setenv("LOOM_TEST", "hunter2")
    network = chain(["Plant 7\u202e", "b", "c"])
    tls = Tls("/etc/ca", "/etc/cert", "/etc/key")
    inventory = loopback(network, tls=tls, credential="env:LOOM_TEST")
    for target in ("mosquitto", "nats"):
        made = export(network, target, inventory)
        assert not any("hunter2" in text or "\u202e" in text for text in made.files.values())
        assert "\u202e" in export_files(made)["brokers.csv"]
    conf = export(network, "mosquitto", inventory).files["b.conf"]
    assert "remote_password @LOOM_SECRET:b@" in conf and "bridge_cafile /etc/ca" in conf


@pytest.mark.parametrize(
    ("target", "version", "words"),
    [("nats", "2.9.10", "delivers twice"), ("mosquitto", "1.6", "2.0 and 2.1"), ("pigeon", None, "there is no target")],
)
def test_versions_and_targets_that_do_not_work_are_refused(target, version, words):
    network = chain(["a", "b"])
    with pytest.raises(InvalidOptionError, match=words):
        export(network, target, loopback(network), version=version)


def test_what_the_inventory_forbids_is_refused():
    network = chain(["a", "b"])
    a, b = Broker("a", "h", 1), Broker("b", "h", 2, dials=False)
    with pytest.raises(InvalidPlanError, match="'b' may not dial"):
        export(network, "mosquitto", Inventory.of([a, b]))
    with pytest.raises(InvalidPlanError, match="'a' does not accept"):
        export(network, "mosquitto", Inventory.of([Broker("a", "h", 1, accepts=False), Broker("b", "h", 2)]))
    with pytest.raises(InvalidInventoryError, match="'b' of the plan is not in the inventory"):
        export(network, "mosquitto", Inventory.of([a]))
    with pytest.raises(InvalidInventoryError, match="leaf_port"):
        export(network, "nats", Inventory.of([a, Broker("b", "h", 2)]))
    with pytest.raises(InvalidInventoryError, match="is a nats in the inventory"):
        export(network, "mosquitto", Inventory.of([a, Broker("b", "h", 2, kind="nats")]))
    with pytest.raises(InvalidInventoryError, match="no credential"):
        export(network, "mosquitto", Inventory.of([Broker("a", "h", 1, credential="env:A"), Broker("b", "h", 2)]))
    with pytest.raises(InvalidInventoryError, match="has no tls itself"):
        export(
            network, "mosquitto", Inventory.of([Broker("a", "h", 1, tls=Tls("/a", "/b", "/c")), Broker("b", "h", 2)])
        )


def test_forests_of_the_plan_are_kept_and_a_cycle_in_one_is_refused():
    rows = [("t", "a", "b", "b", True, 4), ("u", "b", "c", "c", True, 4), ("v", "a", "c", "c", True, 9)]
    network = network_of(rows)
    files = export(network, "nats", loopback(network)).files
    assert "G4 {" in files["a.conf"] and "G9 {" in files["a.conf"] and "G9 {" not in files["b.conf"]
    looped = network_of([(*row[:5], 0) for row in rows])
    with pytest.raises(InvalidPlanError, match="forest 0 make a cycle"):
        export(looped, "nats", loopback(looped))


def test_a_row_with_a_strange_owner_is_refused():
    with pytest.raises(InvalidPlanError, match="has owner 'c'"):
        network_of([("t", "a", "b", "c")])


@pytest.fixture
def plan(tmp_path):
    tl.Plan(tl.routes(tl.design(SMALL, "gm"))).save(tmp_path / "plan")
    network = Network.from_plan(tl.Plan.load(tmp_path / "plan"))
    lines = [f"{one.node},{one.host},{one.port},{one.leaf_port}" for one in loopback(network).brokers.values()]
    (tmp_path / "brokers.csv").write_text("\n".join(["node,host,port,leaf_port", *lines]) + "\n")
    return tmp_path / "plan"


def run(*words):
    return main([str(word) for word in words])


@pytest.mark.parametrize("target", sorted(set(TARGETS) - set(SECURED)))
def test_the_command_writes_the_folder_once(plan, tmp_path, target, capsys):
    words = ("export", plan, tmp_path / "out", "--to", target, "--inventory", tmp_path / "brokers.csv")
    assert run(*words) == 0
    assert "12 " in capsys.readouterr().err
    assert len(table((tmp_path / "out" / "brokers.csv").read_text())) == 12
    assert run(*words) == 2 and "--overwrite" in capsys.readouterr().err
    assert run(*words, "--overwrite") == 0
    (tmp_path / "out" / "mine").write_text("kept")
    assert run(*words, "--overwrite") == 2 and "'mine'" in capsys.readouterr().err
    assert (tmp_path / "out" / "mine").read_text() == "kept"


def turned_round(interest):
    """The same interest with the ids of its nodes and topics in the other order."""
    nodes, topics = interest.n_nodes - 1 - interest.nodes, interest.n_topics - 1 - interest.topics
    labels = {"node_labels": interest.node_labels[::-1], "topic_labels": interest.topic_labels[::-1]}
    return tl.Interest.from_ids(nodes, topics, n_nodes=interest.n_nodes, n_topics=interest.n_topics, **labels)


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("given", [SMALL, turned_round(SMALL)], ids=["in order", "turned round"])
def test_every_configuration_names_the_generation_that_stands_in_plan_json(tmp_path, target, given):
    plan = tl.Plan(tl.routes(tl.design(given, "gm2"), standby=1), target)
    plan.save(tmp_path / "plan")
    generation = json.loads((tmp_path / "plan" / "plan.json").read_text())["generation"]
    loaded = tl.Plan.load(tmp_path / "plan")
    assert len(generation) == 64 and generation == plan.generation == loaded.generation
    inventory = loopback(Network.from_plan(loaded), **SECURED.get(target, {}))
    made = export(loaded, target, inventory, version="2.15" if target == "nats" else None)
    main_files = {path for _, _, path in made.brokers}
    headed = {path for path in made.files if path.endswith((".conf", ".json5"))}
    assert main_files <= headed and len(main_files) == 12
    assert target != "nats" or len(headed) > 12
    assert [path for path in sorted(headed) if not names_generation(made.files[path], generation)] == []


def names_generation(text, generation):
    if text.startswith("{"):
        return json.loads(text)["metadata"]["generation"] == generation
    return text.splitlines()[0].endswith(f", generation {generation}")


def test_a_generation_is_of_the_rows_and_not_of_their_order():
    plan = tl.Plan(tl.routes(tl.design(SMALL, "gm2"), standby=1, forests=True))
    table, rows = plan.routes.table(), plan.routes.table().to_pylist()
    turned = [{**row, "src": row["dst"], "dst": row["src"]} for row in reversed(rows)]
    assert Network.from_table(pa.Table.from_pylist(turned, table.schema)).generation == plan.generation
    first = next(row for row in rows if row["active"])
    for change in ({"active": False}, {"owner": ({first["src"], first["dst"]} - {first["owner"]}).pop()}):
        other = [{**row, **change} if row is first else row for row in rows]
        assert Network.from_table(pa.Table.from_pylist(other, table.schema)).generation != plan.generation


@pytest.fixture
def standby_plan(tmp_path, plan):
    made = tl.Plan(tl.routes(tl.design(SMALL, "gm2"), standby=1))
    made.save(tmp_path / "standby")
    return tmp_path / "standby"


def test_the_command_says_that_a_broker_which_restarts_by_itself_starts_a_storm(plan, standby_plan, tmp_path, capsys):
    words = ("--to", "mosquitto", "--inventory", tmp_path / "brokers.csv")
    assert run("export", standby_plan, tmp_path / "out", *words, "--json") == 0
    told = capsys.readouterr()
    assert "restarts by itself" in told.err and "ExecStartPre=cp SLUG.fenced.acl SLUG.acl" in told.err
    facts = json.loads(told.out)
    assert "storm" in facts["notes"][0] and facts["failover_files"] and facts["generation"]
    assert run("export", plan, tmp_path / "other", *words) == 0
    assert "storm" not in capsys.readouterr().err


def test_the_command_says_which_files_are_missing_for_old_nats_servers_and_what_brings_them(
    plan, standby_plan, tmp_path, capsys
):
    words = ("--to", "nats", "--inventory", tmp_path / "brokers.csv", "--json")
    assert run("export", standby_plan, tmp_path / "out", *words) == 0
    told = capsys.readouterr()
    assert "failover.csv" in told.err and "and 11 more counts as 2.10; say --version" in told.err
    facts = json.loads(told.out)
    assert not facts["failover_files"] and "failover/DEAD/SLUG.conf" in facts["notes"][0]
    assert run("export", standby_plan, tmp_path / "new", *words, "--version", "2.15.1") == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [] and (tmp_path / "new" / "failover.csv").exists()
    assert run("export", standby_plan, tmp_path / "plain", *words, "--no-gates") == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []
    assert run("export", plan, tmp_path / "none", *words) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


@pytest.mark.parametrize(("target", "words"), [("rabbitmq", "standby rows are left out"), ("zenoh", "no gates")])
def test_targets_without_gates_say_so_where_rows_stand_by(standing_by, target, words):
    inventory = loopback(standing_by, **SECURED.get(target, {}))
    assert words in " ".join(export(standing_by, target, inventory).notes)
    assert export(planned(SMALL), target, inventory).notes == ()


def test_the_command_asks_for_an_inventory(plan, tmp_path, capsys):
    assert run("export", plan, tmp_path / "out", "--to", "mosquitto") == 2
    assert "--inventory" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_where_a_name_does_not_fit(tmp_path, capsys):
    interest = tl.Interest.from_pairs(["a", "b"], ["two words", "two words"])
    tl.Plan(tl.routes(tl.design(interest, "gm"))).save(tmp_path / "plan")
    (tmp_path / "brokers.csv").write_text("node,host,port\na,h,1\nb,h,2\n")
    words = [
        "export",
        tmp_path / "plan",
        tmp_path / "out",
        "--to",
        "mosquitto",
        "--inventory",
        tmp_path / "brokers.csv",
    ]
    assert run(*words) == 2
    assert "U+0020 at 4" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["brokers.csv", "plan"]
    assert run(*words, "--version", "2.1") == 0


def test_an_export_is_written_whole_or_not_at_all(tmp_path):
    network = chain(["a", "b"])
    made = export(network, "mosquitto", loopback(network))
    write_export(made, tmp_path / "out")
    with pytest.raises(OutputExistsError):
        write_export(made, tmp_path / "out")
    broken = type(made)(made.target, {**made.files, "x\0y": ""}, made.brokers, made.levels, made.site)
    with pytest.raises(ValueError):
        write_export(broken, tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_rabbitmq_federates_every_forest_over_its_links_in_both_directions():
    network = planned(SMALL, forests=True)
    made = export(network, "rabbitmq", loopback(network, credential="env:LOOM_TEST"))
    files, slugs = made.files, {slug: node for node, slug, _ in made.brokers}
    upstreams = set()
    for slug, node in slugs.items():
        told = json.loads(files[f"{slug}.definitions.json"])
        for one in told["parameters"]:
            if one["component"] == "federation-upstream-set":
                upstreams |= {(one["name"], node, slugs[peer["upstream"]]) for peer in one["value"]}
        assert {policy["definition"]["federation-upstream-set"] for policy in told["policies"]} == {
            one["name"] for one in told["exchanges"] if one["name"] != "loom"
        }
    rows = {(f"loom.g{row.forest}", *ends) for row in network.rows for ends in ((row.src, row.dst), (row.dst, row.src))}
    assert upstreams == rows


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "has no credential"),
        ({"credential": "env:A", "tls": Tls("/a", "/b", "/c")}, "over TLS was not run"),
        ({"credential": "env:A", "accepts": False}, "both dial and accept|does not accept"),
    ],
)
def test_rabbitmq_refuses_what_federation_cannot_do(values, sentence):
    network = chain(["a", "b"])
    with pytest.raises((InvalidInventoryError, InvalidPlanError), match=sentence):
        export(network, "rabbitmq", loopback(network, **values))


def test_a_plan_for_another_inventory_is_refused(plan, tmp_path, capsys):
    network = Network.from_plan(tl.Plan.load(plan))
    given = tl.Plan(tl.Plan.load(plan).routes, "mosquitto", loopback(network).fingerprint)
    assert export(given, "mosquitto", loopback(network)).files
    with pytest.raises(InvalidPlanError, match="made for another inventory"):
        export(given, "mosquitto", loopback(network, site="elsewhere"))


def test_a_nats_server_never_has_a_topic_in_two_accounts_and_no_account_has_a_cycle(standing_by):
    files = export(standing_by, "nats", loopback(standing_by), version="2.15").files
    for dead in standing_by.nodes:
        for step in ("", "shut/"):
            texts = {node: files[f"{node}.conf"] for node in standing_by.nodes}
            changed = {node: files.get(f"failover/{dead}/{step}{node}.conf") for node in standing_by.nodes}
            texts |= {node: text for node, text in changed.items() if text}
            links: dict[str, set[tuple[str, str]]] = {}
            for node, text in texts.items():
                imported = re.findall(r'\{stream: \{account: G\d+, subject: "([^"]+)"', text)
                assert len(imported) == len(set(imported))
                remotes = re.findall(r'@127\.0\.0\.1:(\d+)"\], account: (G\d+)', text)
                for port, account in remotes:
                    links.setdefault(account, set()).add((node, port))
            ports = {str(one.leaf_port): one.node for one in loopback(standing_by).brokers.values()}
            for dials in links.values():
                graph = nx.Graph((owner, ports[port]) for owner, port in dials)
                assert nx.is_forest(graph) and graph.number_of_edges() == len(dials)


def test_a_topic_that_moves_to_other_accounts_or_back_is_in_none_in_between(standing_by):
    site, gates = export(standing_by, "nats", loopback(standing_by), version="2.15").site, NatsGates()
    normal, moved = standing_by.open_rows(), 0
    for dead in standing_by.nodes:
        healed = standing_by.open_rows(dead)
        topics = {subject(row.topic) for row in healed if not row.active}
        for before, after in ((normal, healed), (healed, normal)):
            touched = gates.touched(site, before, after)
            texts = gates.between(site, sorted(touched), before, after)
            found = (re.findall(r'account: G\d+, subject: "([^"]+)"', text) for text in texts.values())
            imported = set().union(*found)
            assert not imported & topics and set(texts) == touched
            there = gates.texts(site, sorted(touched), after).values()
            moved += len(topics) > 0 and all(any(f'"{name}"' in text for text in there) for name in topics)
    assert moved > 4


def test_files_for_deaths_are_written_for_servers_that_take_them_and_not_without_end(standing_by, monkeypatch):
    assert "failover.csv" not in export(standing_by, "nats", loopback(standing_by), version="2.13").files
    assert "failover.csv" in export(standing_by, "nats", loopback(standing_by), version="2.14").files
    monkeypatch.setattr("topicloom.brokers.nats.nats._MOST_FILES", 10)
    with pytest.raises(InvalidOptionError, match="at most 10 are written; --no-gates leaves them out"):
        export(standing_by, "nats", loopback(standing_by), version="2.14")
    assert "failover.csv" not in export(standing_by, "nats", loopback(standing_by), version="2.14", gates=False).files
