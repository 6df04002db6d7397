"""Plans on real brokers: every copy once, failures healed by gates, trees switched, nothing left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import topicloom as tl
from support.broker_networks import (
    copies,
    loopback,
    needs_mosquitto,
    needs_nats,
    needs_zenoh,
    network_of,
    other_trees,
    planned,
    stand_in,
    with_standby,
)
from support.hostile_names import hostile_names
from topicloom.brokers.kinds import KINDS
from topicloom.brokers.nats.run_nats import RunNats
from topicloom.brokers.zenoh.run_zenoh import RunZenoh
from topicloom.brokers.zenoh.zenoh import router_id, transit
from topicloom.cli import main
from topicloom.deploy import TARGETS, Inventory, Network, Tls, export, fits, rehearse, write_export
from topicloom.errors import InvalidOptionError, InvalidPlanError

STAND_IN = stand_in()
SMALL = stand_in(nodes=12, topics=20)


def left_behind() -> list[str]:
    """Folders of rehearsals, and processes that were started from one."""
    folders = [str(path) for path in Path(os.environ.get("TMPDIR", "/tmp")).glob("topicloom-rehearsal-*")]
    return [*folders, *_started_in(folders)]


def _started_in(folders):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                place = str((entry / "cwd").readlink())
            except OSError:
                continue
            found += [f"process {entry.name} in {place}" for folder in folders if place.startswith(folder)]
    return found


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Every test has its own temporary folder, so that what is left there was left by it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    assert left_behind() == []


@needs_mosquitto
def test_94_mosquitto_brokers_deliver_every_copy_once():
    network = planned(STAND_IN)
    result = rehearse(network)
    assert result.ok and result.brokers == 94
    assert result.counts.expected == result.counts.exactly_once == copies(network)
    assert result.counts.published == sum(len(nodes) for nodes in network.subscribers.values() if len(nodes) > 1)


@needs_nats
def test_a_server_that_hangs_up_half_way_through_a_page_is_asked_again():
    answers = [
        b"",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b'HTTP/1.0 200 OK\r\n\r\n{"in_',
        b'HTTP/1.0 200 OK\r\n\r\n{"in_msgs": 7}',
    ]

    async def answer(reader, writer):
        await reader.readline()
        writer.write(answers.pop(0))
        writer.close()

    async def ask():
        kind = RunNats(("a",))
        async with await asyncio.start_server(answer, "127.0.0.1", kind._monitor["a"]):
            return await kind.ask("a", "varz")

    assert asyncio.run(ask()) == {"in_msgs": 7} and answers == []


@needs_nats
def test_94_nats_servers_deliver_every_copy_once_and_receive_none_too_many():
    network = planned(STAND_IN)
    result = rehearse(network, "nats")
    assert result.ok and result.counts.exactly_once == copies(network)
    assert result.excess == 0


@needs_zenoh
def test_zenoh_routers_deliver_every_copy_once_over_the_links_of_a_plan():
    network = planned(stand_in(nodes=24, topics=40))
    result = rehearse(network, "zenoh")
    assert result.ok and result.brokers == 24
    assert result.counts.expected == result.counts.exactly_once == copies(network)
    assert result.transit == transit(network)


@needs_zenoh
def test_the_ways_that_zenoh_routers_tell_lie_between_the_bounds_of_transit(monkeypatch):
    network, told = planned(SMALL), []
    monkeypatch.setattr(RunZenoh, "launch", with_admin_space)
    monkeypatch.setattr(RunZenoh, "memory", lambda kind, stage: told.append(told_transit(kind, stage)) or 0)
    least, most = rehearse(network, "zenoh").transit
    assert least <= told[0] <= most and most > least


def with_admin_space(kind, stage, node):
    import zenoh

    config = zenoh.Config.from_file(str(stage.crew.folder / f"{stage.site.slugs[node]}.json5"))
    config.insert_json5("adminspace", '{"enabled": true, "permissions": {"read": true, "write": false}}')
    kind._sessions[node] = zenoh.open(config)


def told_transit(kind, stage):
    """Copies that pass through a router that did not ask, every router asked for its successor on the way."""
    names = {router_id(slug): node for node, slug in stage.site.slugs.items()}
    ids = {node: number for number, node in names.items()}

    def way(start, end):
        passed, here = set(), start
        while here != end:
            asked = f"@/{ids[here]}/router/route/successor/src/{ids[start]}/dst/{ids[end]}"
            here = names[next(iter(kind._sessions[here].get(asked))).ok.payload.to_string().strip('"')]
            passed.add(here)
        return passed

    subscribers = stage.site.network.subscribers.values()
    return sum(not way(one, other) <= set(nodes) for nodes in subscribers for one in nodes for other in nodes)


@needs_mosquitto
def test_ros2_autoware_has_1205_copies(dataset):
    result = rehearse(planned(interest_of(dataset("ros2_autoware.csv"))))
    assert result.ok and (result.brokers, result.counts.expected) == (94, 1205)


def interest_of(path):
    import csv

    with Path(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return tl.Interest.from_pairs([row[0] for row in rows], [row[1] for row in rows])


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("mosquitto", marks=needs_mosquitto),
        pytest.param("nats", marks=needs_nats),
        pytest.param("zenoh", marks=needs_zenoh),
    ],
)
def test_hostile_names_that_fit_are_carried_unchanged_by_real_brokers(kind):
    version = KINDS[kind].runner.installed()
    names = [name for name in hostile_names(1_000, seed=2) if len(name) < 1_000 and fits(name, kind, version)]
    rows = [row for name in names for row in ((name, "a", "b", "b"), (name, "b", "c", "c"))]
    result = rehearse(network_of(rows), kind)
    assert result.ok and result.counts.exactly_once == 9 * len(names) > 900


@needs_mosquitto
def test_a_tree_that_is_cut_is_reported_as_missing():
    network = planned(SMALL)
    topic = next(topic for topic, nodes in network.subscribers.items() if len(nodes) > 2)
    kept = tuple(row for row in network.rows if row.topic != topic)
    result = rehearse(Network(network.nodes, network.subscribers, kept))
    size = len(network.subscribers[topic])
    assert not result.ok
    assert (result.counts.missing, result.counts.extra) == (size * (size - 1), 0)


@needs_mosquitto
def test_two_ways_to_one_broker_are_reported_as_extra_copies():
    rows = [("t", "a", "b", "a"), ("t", "b", "c", "c"), ("t", "a", "d", "a"), ("t", "d", "e", "e")]
    looped = network_of([*rows, ("u", "a", "b", "a"), ("u", "b", "c", "c"), ("u", "a", "c", "a")])
    result = rehearse(looped)
    assert not result.ok and result.counts.extra > 0


@needs_mosquitto
def test_a_broker_that_did_not_ask_is_reported_as_unwanted():
    network = planned(SMALL)
    topic, nodes = next((topic, nodes) for topic, nodes in network.subscribers.items() if 2 < len(nodes) < 12)
    row = next(row for row in network.topic_rows[topic])
    stranger = next(node for node in network.nodes if node not in nodes)
    bent = row._replace(src=row.owner, dst=stranger)
    result = rehearse(Network(network.nodes, network.subscribers, (*network.rows, bent)))
    assert not result.ok and result.counts.unwanted == len(nodes)


@needs_mosquitto
def test_gates_heal_the_death_of_the_busiest_broker_and_its_return_is_harmless():
    network = with_standby(tl.design(stand_in(nodes=24, topics=20), "gm2"))
    result = rehearse(network, kill=network.busiest()[:2])
    assert [one for one in result.failovers if not one.ok] == [] and len(result.failovers) == 2
    assert result.counts.ok
    assert all(one.cut_topics and one.lost and one.brokers_signalled for one in result.failovers)


def star_beside_a_triangle():
    """Plan in which the last broker hears nothing of topic t when the hub a is dead, and topic u is not cut."""
    interest = tl.Interest.from_pairs(["a", "b", "c", "störung", "a", "b", "c"], [*"tttt", *"uuu"])
    return tl.Plan(tl.routes(tl.Overlay(interest, [(0, 1), (0, 2), (0, 3), (1, 2)]), standby=1))


@needs_mosquitto
def test_a_death_that_does_not_heal_is_told_in_the_table_and_has_no_outage_that_ended(tmp_path, capsys):
    star_beside_a_triangle().save(tmp_path / "plan")
    words = ["rehearse", str(tmp_path / "plan"), "--kill", "a", "--kill", "störung"]
    assert main(words) == 1
    table = capsys.readouterr().out
    hub, leaf = (next(line for line in table.splitlines() if line.startswith(name)) for name in ("a ", "störung "))
    assert hub.split()[1:4] == ["NO", "1", "1"] and "not healed within" in hub
    assert leaf.split()[1:4] == ["yes", "0", "0"] and "not healed" not in leaf
    assert "NOT healed after the death of a: 1 topic stayed cut" in table.splitlines()
    assert main([*words, "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["failovers"]
    assert (first["healed"], first["still_cut"], first["outage_seconds"]) == (False, 1, None)
    assert (second["healed"], second["still_cut"]) == (True, 0) and second["outage_seconds"] is not None
    assert first["watched_seconds"] > 0


def test_an_unknown_broker_is_named_as_it_is_written(tmp_path, capsys):
    star_beside_a_triangle().save(tmp_path / "plan")
    assert main(["rehearse", str(tmp_path / "plan"), "--kill", "stöung"]) == 2
    assert "no broker 'stöung' to kill" in capsys.readouterr().err
    (tmp_path / "brokers.csv").write_text("node,host,port\na,h,1\nb,h,2\nc,h,3\n", encoding="utf-8")
    assert main(["rehearse", str(tmp_path / "plan"), "--inventory", str(tmp_path / "brokers.csv")]) == 2
    assert "broker 'störung' of the plan" in capsys.readouterr().err


def test_brokers_of_several_kinds_are_refused_before_anything_starts(tmp_path, capsys):
    star_beside_a_triangle().save(tmp_path / "plan")
    table = "node,host,port,kind\na,h,1,mosquitto\nb,h,2,mosquitto\nc,h,3,{}\nstörung,h,4,{}\n"
    (tmp_path / "brokers.csv").write_text(table.format("nats", "nats"), encoding="utf-8")
    words = ["rehearse", str(tmp_path / "plan"), "--inventory", str(tmp_path / "brokers.csv")]
    assert main(words) == 2
    assert "2 kinds (mosquitto: 'a', 'b'; nats: 'c', 'störung')" in capsys.readouterr().err
    (tmp_path / "brokers.csv").write_text(table.format("mosquitto", ""), encoding="utf-8")
    assert main([*words, "--to", "nats"]) == 2
    assert "broker 'a' is a mosquitto in the inventory, not a nats" in capsys.readouterr().err


@needs_mosquitto
def test_trees_are_switched_under_traffic_without_an_extra_copy():
    old = with_standby(tl.design(STAND_IN, "gm2"))
    result = rehearse(old, new=other_trees(old))
    assert result.ok and result.switched is not None
    assert result.switched.topics >= 20 and result.switched.extra == 0
    assert result.counts.exactly_once == copies(old)


@needs_nats
def test_nats_servers_heal_a_death_by_their_exported_files_also_with_credentials():
    network = with_standby(tl.design(SMALL, "gm2"))
    result = rehearse(
        network, "nats", inventory=loopback(network, credential="env:LOOM_TEST"), kill=network.busiest()[:1]
    )
    [killed] = result.failovers
    assert killed.ok and killed.cut_topics and killed.lost and killed.brokers_signalled
    assert result.ok and result.counts.exactly_once == copies(network)


@needs_nats
def test_nats_servers_switch_trees_under_traffic_without_an_extra_copy():
    old = with_standby(tl.design(SMALL, "gm2"))
    result = rehearse(old, "nats", new=other_trees(old))
    assert result.ok and result.switched is not None and result.switched.topics > 5
    assert result.counts.exactly_once == copies(old)


@pytest.mark.parametrize(
    ("kind", "credential"),
    [
        pytest.param("mosquitto", "env:LOOM_TEST", marks=needs_mosquitto),
        pytest.param("mosquitto", "file:/nowhere/secret", marks=needs_mosquitto),
        pytest.param("nats", "env:LOOM_TEST", marks=needs_nats),
        pytest.param("nats", "file:/nowhere/secret", marks=needs_nats),
    ],
)
def test_tls_and_credentials_are_rehearsed_with_throw_away_ones(kind, credential, tmp_path, monkeypatch):
    monkeypatch.setenv("LOOM_TEST", "a-secret-that-no-file-holds")
    plan = tl.Plan(tl.routes(tl.design(SMALL, "gm")), kind)
    network = Network.from_plan(plan)
    secured = loopback(network, tls=Tls("/nowhere/ca", "/nowhere/cert", "/nowhere/key"), credential=credential)
    result = rehearse(network, kind, inventory=secured)
    assert result.ok and result.counts.exactly_once == copies(network)
    plan.save(tmp_path / "plan")
    write_export(export(network, kind, secured), tmp_path / "export")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 12 and not [path for path in files if b"a-secret-that-no-file-holds" in path.read_bytes()]


@pytest.mark.parametrize(
    "kind", [pytest.param("mosquitto", marks=needs_mosquitto), pytest.param("zenoh", marks=needs_zenoh)]
)
def test_tls_alone_works_on_the_clients_port_too(kind):
    network = planned(SMALL)
    tls = Tls("/nowhere/ca", "/nowhere/cert", "/nowhere/key")
    brokers = [type(one)(one.node, one.host, one.port, tls=tls) for one in loopback(network).brokers.values()]
    assert rehearse(network, kind, inventory=Inventory.of(brokers)).ok


@needs_mosquitto
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_rehearsal_that_is_stopped_leaves_nothing(tmp_path, number):
    plan = tmp_path / "plan"
    tl.Plan(tl.routes(tl.design(stand_in(nodes=40, topics=40), "gm"))).save(plan)
    child = subprocess.Popen(
        [sys.executable, "-m", "topicloom", "rehearse", str(plan)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(left_behind()) < 5 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert child.poll() is None
    child.send_signal(number)
    assert child.wait(timeout=60) == (130 if number == signal.SIGINT else -number)
    deadline = time.monotonic() + 60
    while left_behind() and time.monotonic() < deadline:
        time.sleep(0.1)


def test_what_cannot_be_rehearsed_is_refused():
    network = planned(SMALL)
    with pytest.raises(InvalidOptionError, match="there are mosquitto, nats, rabbitmq, zenoh"):
        rehearse(network, "telepathy")
    with pytest.raises(InvalidOptionError, match="no broker 'x'"):
        rehearse(network, kill=["x"])
    with pytest.raises(InvalidPlanError, match="standby"):
        rehearse(network, kill=network.nodes[:1])
    with pytest.raises(InvalidOptionError, match="on rabbitmq; a federation"):
        rehearse(network, "rabbitmq", new=network)
    with pytest.raises(InvalidOptionError, match="Zenoh finds other ways by itself"):
        rehearse(network, "zenoh", kill=network.nodes[:1])
    assert set(TARGETS) == {"mosquitto", "nats", "rabbitmq", "zenoh"} and all(kind.runner for kind in KINDS.values())
