"""Audits of Mosquitto: grammar, copies, findings, and our own exports come back as the routes they were made from."""

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom as tl
from support.audited_networks import trial
from support.broker_networks import loopback, needs_mosquitto, planned, stand_in, with_standby
from topicloom.brokers.auditing.filters import common, example_of
from topicloom.brokers.rehearsal.processes import free_ports, program
from topicloom.cli import main
from topicloom.deploy import Broker, Inventory, export, write_export
from topicloom.errors import TopicloomError
from topicloom.files.read import read_subscriptions
from topicloom.files.read.patterns import MQTT

LEVELS = st.sampled_from(["a", "b", "", "+"])
FILTERS = st.tuples(st.lists(LEVELS, min_size=1, max_size=3), st.booleans()).map(
    lambda made: "/".join(made[0] + ["#"] * made[1])
)
SECRET = "hunter2-the-value"


def folder_of(tmp_path, **files):
    for name, text in files.items():
        (tmp_path / f"{name}.conf").write_text(text)
    return tmp_path


def bridge(peer, port, *lines, name=None):
    head = [f"connection {name or f'to-{peer}'}", f"address 127.0.0.1:{port}", "cleansession true"]
    return "\n".join([*head, *lines]) + "\n"


def listening(port):
    return f"listener {port} 127.0.0.1\n"


def copies_of(folder, broker, topic):
    from topicloom.auditing import MosquittoMesh, follow
    from topicloom.brokers.mosquitto.mosquitto_broker import read_mosquitto

    read = [read_mosquitto(path, path.stem, path.name) for path in sorted(folder.glob("*.conf"))]
    mesh = MosquittoMesh(read, {})
    return follow(mesh.start(broker, topic), mesh.hops)


def test_a_chain_of_bridges_is_clean_and_its_rows_are_read(tmp_path):
    folder = folder_of(
        tmp_path,
        a=listening(7001),
        b=listening(7002) + bridge("a", 7001, "topic news both 1"),
        c=listening(7003) + bridge("b", 7002, "topic news both 1"),
    )
    found = tl.audit(folder)
    assert found.ok, found.findings
    assert [row[:4] for row in found.rows] == [("news", "a", "b", "b"), ("news", "b", "c", "c")]
    assert found.points == 3
    with pytest.raises(TypeError):
        bool(found)


def test_a_circle_is_reported_with_its_lines(tmp_path):
    folder = folder_of(
        tmp_path,
        a=listening(7001) + bridge("c", 7003, "topic news both"),
        b=listening(7002) + bridge("a", 7001, "topic news both"),
        c=listening(7003) + bridge("b", 7002, "topic news both"),
    )
    loops = [finding for finding in tl.audit(folder).findings if finding.kind == "loop"]
    assert len(loops) == 1
    assert {str(place) for place in loops[0].places} == {"a.conf:5", "b.conf:5", "c.conf:5"}
    assert "(and 2 more publish points)" in loops[0].text


def test_a_name_that_grows_for_ever_is_a_loop(tmp_path):
    lines = ('topic # out 0 "" x/',)
    folder = folder_of(
        tmp_path, a=listening(7001) + bridge("b", 7002, *lines), b=listening(7002) + bridge("a", 7001, *lines)
    )
    assert "loop" in tl.audit(folder).kinds


def test_filters_that_overlap_duplicate_on_mqtt_5_only(tmp_path):
    for version, copies in (("mqttv50", 2), ("mqttv311", 1)):
        lines = (f"bridge_protocol_version {version}", "topic a/# out", "topic a/b out")
        folder = folder_of(tmp_path, a=listening(7001), b=listening(7002) + bridge("a", 7001, *lines))
        assert copies_of(folder, "b", "a/b").copies == {("b", "a/b"): 1, ("a", "a/b"): copies}
        assert ("duplicate" in tl.audit(folder).kinds) == (copies == 2)


def test_an_out_line_takes_back_an_earlier_in_line(tmp_path):
    lines = ("topic a in", "topic a out")
    folder = folder_of(tmp_path, a=listening(7001), b=listening(7002) + bridge("a", 7001, *lines))
    assert copies_of(folder, "a", "a").copies == {("a", "a"): 1}
    assert [str(finding.places[0]) for finding in tl.audit(folder).findings if finding.kind == "in-vain"] == [
        "b.conf:5"
    ]


def test_prefixes_rename_both_ways_and_win_over_plain_lines(tmp_path):
    lines = ("topic # both", "topic t both 0 here/ there/")
    folder = folder_of(tmp_path, a=listening(7001), b=listening(7002) + bridge("a", 7001, *lines))
    assert copies_of(folder, "b", "here/t").copies == {("b", "here/t"): 1, ("a", "there/t"): 1}
    assert copies_of(folder, "a", "there/t").copies == {("a", "there/t"): 1, ("b", "here/t"): 1}


def test_comments_tabs_includes_and_aliases_are_read_as_mosquitto_does(tmp_path):
    (tmp_path / "hub" / "conf.d").mkdir(parents=True)
    (tmp_path / "hub" / "mosquitto.conf").write_text("include_dir /etc/mosquitto/conf.d\r\n")
    (tmp_path / "hub" / "conf.d" / "B.conf").write_text("# listener 9\r\nlistener 7001 127.0.0.1\r\n")
    (tmp_path / "hub" / "conf.d" / "a.conf").write_text("persistence false\n")
    edge = listening(7002) + bridge("hub", 7001, "clientid one", "topic a\tb both", "topic #x out")
    (tmp_path / "edge.conf").write_text(edge)
    found = tl.audit(tmp_path)
    assert set(found.brokers) == {"hub", "edge"}
    assert {row.topic for row in found.rows} == {"a\tb", "#x"}


def test_both_sides_clashes_unknown_peers_and_kept_sessions_are_named(tmp_path):
    folder = folder_of(
        tmp_path,
        a=listening(7001) + bridge("b", 7002, "clientid same", "topic x out"),
        b=listening(7002) + bridge("a", 7001, "clientid one", "topic y out"),
        c=listening(7003)
        + bridge("b", 7002, "clientid same", "topic z out")
        + bridge("?", 7999, "topic z out").replace("cleansession true\n", ""),
    )
    kinds = tl.audit(folder).kinds
    assert kinds == {"both-sides": 1, "client-id-clash": 1, "unknown-peer": 1, "kept-session": 1}


def test_a_peer_that_only_the_inventory_knows_is_an_unknown_peer(tmp_path):
    folder = folder_of(tmp_path, b=listening(7002) + bridge("z", 7001, "topic x both"))
    elsewhere = Inventory.of([Broker("z", "127.0.0.1", 7001)])
    assert tl.audit(folder, inventory=elsewhere).kinds == {"unknown-peer": 1}


def test_a_secret_is_reported_by_its_line_and_never_by_its_value(tmp_path, capsys):
    text = listening(7002) + bridge("a", 7001, f"password {SECRET}", "topic x out")
    folder = folder_of(tmp_path, a=listening(7001), b=text)
    assert main(["audit", str(folder)]) == 1
    assert main(["audit", str(folder), "--json"]) == 1
    printed = "".join(capsys.readouterr())
    assert "b.conf:5" in printed and SECRET not in printed
    assert SECRET not in repr(tl.audit(folder))


@pytest.mark.parametrize(
    "address",
    [f"mqtt://user:{SECRET}@10.0.0.9:1883", f"user:{SECRET}@h", f"mqtt://user:{SECRET}@h", f"mqtt://user:{SECRET}"],
)
def test_a_password_in_an_address_is_never_printed(tmp_path, capsys, address):
    text = listening(7002) + f"connection x\naddress {address}\ntopic a out\n"
    folder = folder_of(tmp_path, b=text)
    assert main(["audit", str(folder)]) in (1, 2)
    assert main(["audit", str(folder), "--json"]) in (1, 2)
    assert SECRET not in "".join(capsys.readouterr())


def test_a_password_in_an_address_is_a_secret_with_its_line(tmp_path):
    text = listening(7002) + f"connection x\naddress mqtt://user:{SECRET}@h:1883\ncleansession true\ntopic a out\n"
    found = tl.audit(folder_of(tmp_path, b=text))
    assert found.kinds == {"unknown-peer": 1, "secret": 1}
    assert [str(place) for place in found.findings[1].places] == ["b.conf:3"]


def test_qos_that_differs_on_the_way_is_a_finding(tmp_path):
    folder = folder_of(
        tmp_path,
        a=listening(7001),
        b=listening(7002) + bridge("a", 7001, "topic news both 1", "topic other both 1"),
        c=listening(7003) + bridge("b", 7002, "topic news both 0", "topic other both 1"),
    )
    found = tl.audit(folder)
    assert found.kinds == {"qos": 1}
    assert found.findings[0].topic == "news"
    assert [str(place) for place in found.findings[0].places] == ["c.conf:5", "b.conf:5"]


def test_qos_that_is_not_the_exported_one_is_a_finding(tmp_path):
    network = planned(tl.datasets.example())
    write_export(export(network, "mosquitto", loopback(network)), tmp_path / "out")
    for file in (tmp_path / "out").glob("*.conf"):
        file.write_text(file.read_text().replace(" both 1\n", " both 0\n"))
    assert set(tl.audit(tmp_path / "out").kinds) == {"qos"}


def test_what_is_known_and_not_followed_is_a_finding_with_its_line(tmp_path):
    lines = ["per_listener_settings true", "listener 7001", "mount_point x/", "plugin a.so", "global_max_clients 3"]
    more = bridge("?", 7999, "start_type lazy", "topic a out").replace(":7999", ":7998 127.0.0.1:7999")
    found = tl.audit(folder_of(tmp_path, a="\n".join(lines) + "\n" + more))
    places = sorted(place.line for one in found.findings if one.kind == "not-followed" for place in one.places)
    assert places == [1, 3, 4, 5, 7, 9]


def test_an_interest_shows_what_is_missing_and_what_is_unwanted(tmp_path, capsys):
    (tmp_path / "etc").mkdir()
    folder = folder_of(
        tmp_path / "etc",
        a=listening(7001),
        b=listening(7002) + bridge("a", 7001, "topic news both"),
        c=listening(7003),
    )
    (tmp_path / "subs.csv").write_text("node,topic\na,news\nc,news\nd,news\n")
    assert main(["audit", str(folder), "--interest", str(tmp_path / "subs.csv"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["kinds"] == {"cut-off": 1, "missing": 2, "unwanted": 1}
    texts = [finding["text"] for finding in found["findings"]]
    assert texts[1].startswith("'news' published at 'a' does not reach 'c', and no line brings it there")
    assert "'d' subscribes and has no configuration" in texts[2]


def as_set(rows):
    return {(row.topic, *sorted((row.src, row.dst)), row.owner, row.active) for row in rows}


@pytest.mark.parametrize("make", [tl.datasets.example, lambda: stand_in(nodes=20, topics=30)])
def test_our_exports_come_back_as_the_routes_they_were_made_from(tmp_path, make):
    interest = make()
    network = planned(interest)
    write_export(export(network, "mosquitto", loopback(network)), tmp_path / "out")
    found = tl.audit(tmp_path / "out", interest)
    assert found.ok, found.findings
    assert as_set(found.rows) == as_set(network.rows)


def test_exports_for_other_hosts_come_back_with_and_without_their_inventory(tmp_path):
    interest = stand_in(nodes=12, topics=20)
    network = planned(interest)
    hosts = Inventory.of(Broker(node, f"10.0.0.{place + 1}", 1883) for place, node in enumerate(network.nodes))
    write_export(export(network, "mosquitto", hosts), tmp_path / "out")
    for inventory in (None, hosts):
        found = tl.audit(tmp_path / "out", interest, inventory=inventory)
        assert found.ok and as_set(found.rows) == as_set(network.rows)


def test_rows_that_a_gate_shuts_come_back_as_standby_rows(tmp_path):
    interest = stand_in(nodes=12, topics=20)
    network = with_standby(tl.design(interest, "gm2"))
    write_export(export(network, "mosquitto", loopback(network)), tmp_path / "out")
    found = tl.audit(tmp_path / "out", interest)
    assert found.ok, found.findings
    assert as_set(found.rows) == as_set(network.rows)


def test_the_robot_comes_back_as_its_routes(tmp_path, dataset):
    interest = read_subscriptions(dataset("ros2_autoware.csv")).interest()
    network = planned(interest)
    write_export(export(network, "mosquitto", loopback(network)), tmp_path / "out")
    found = tl.audit(tmp_path / "out", interest)
    assert found.ok and as_set(found.rows) == as_set(network.rows)


@given(st.lists(FILTERS, min_size=2, max_size=2))
def test_what_filters_have_in_common_is_matched_by_both(pair):
    both = common(*pair)
    assert all(MQTT.matches(one, example_of(one)) for one in pair)
    if both is not None:
        assert all(MQTT.matches(one, example_of(both)) for one in pair)


REFUSED = [
    ("topic a\n", "b.conf:1: topic stands outside a connection"),
    ("connection x\ntopic a\n", "b.conf:1: connection 'x' has no address line"),
    ("connection x\naddress h:99999\ntopic a\n", "b.conf:2: '99999' is no port"),
    ("connection x\naddress h\ntopic a sideways\n", "b.conf:3: 'sideways' is no direction"),
    ("connection x\naddress h\ntopic a out 7\n", "b.conf:3: '7' is no QoS"),
    ('connection x\naddress h\ntopic ""\n', 'b.conf:3: the pattern "" needs both prefixes'),
    ("include_dir nowhere\n", "b.conf:1: include_dir 'nowhere' is not there"),
    ("listener 1883\nacl_file none\n", "b.conf:2: acl_file 'none' is not there"),
    ("connection x\naddress h\ntopic a\nconnection x\n", "b.conf:4: connection 'x' is there already (b.conf:1)"),
    ("port 1883\0\n", "b.conf holds a NUL byte"),
    ("listener 1883\nfrobnicate yes\n", "b.conf:2: 'frobnicate' is no directive of Mosquitto"),
    ("listener 1883\ncleansession true\n", "b.conf:2: cleansession stands outside a connection"),
    ("listener 1883\nbridge_cafile x\n", "b.conf:2: bridge_cafile stands outside a connection"),
    ("connection x\naddress h\ntopic a\ntry_private yes\n", "b.conf:4: try_private needs true or false"),
    ("connection x\naddress h\naddress i\ntopic a\n", "b.conf:3: connection 'x' has an address already"),
    ("connection x\naddress h\ntopic a\nclientid i\nremote_clientid j\n", "b.conf:5: remote_clientid stands there"),
    ("connection x\naddress h\ntopic a#b out 0 l/\n", "b.conf:3: 'l/a#b' is no filter"),
    ("connection x\naddress h\ntopic a\nbridge_psk 00\n", "b.conf:1: connection 'x' has no bridge_identity line"),
    ("connection x\naddress h\ntopic a\nrestart_timeout 9 2\n", "b.conf:4: the second time of restart_timeout"),
    ("connection x\naddress h\ntopic a\nbridge_protocol_version 5\n", "b.conf:4: '5' is no bridge_protocol_version"),
    ("listener 1883\nmax_packet_size 3\n", "b.conf:2: max_packet_size takes a number"),
    ("listener 1883\nlog_timestamp_format\n", "b.conf:2: log_timestamp_format needs a value"),
    ("mount_point x\n", "b.conf:1: mount_point needs a listener before it"),
    ("plugin_opt_x y\n", "b.conf:1: plugin_opt_x stands before any plugin"),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_mosquitto_would_refuse_is_one_sentence_with_its_line(tmp_path, text, said, capsys):
    assert main(["audit", str(folder_of(tmp_path, b=text))]) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1


@needs_mosquitto
@pytest.mark.parametrize(("text", "said"), [case for case in REFUSED if "NUL" not in case[1]])
def test_mosquitto_does_refuse_it_and_names_the_same_line(tmp_path, text, said):
    folder_of(tmp_path, b=text.replace("1883", f"{free_ports(1)[0]} 127.0.0.1"))
    command = [program("mosquitto", "apt has it"), "-c", "b.conf"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode
    named = [line.split(" at ")[1].rstrip(".") for line in ended.stderr.splitlines() if "Error found at b.conf" in line]
    assert all(said.startswith(f"{place}: ") for place in named)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read_or_refused_with_a_sentence(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("any")
    (folder / "b.conf").write_bytes(b"connection x\naddress h\ntopic a\n" + data)
    try:
        tl.audit(folder)
    except TopicloomError as error:
        assert str(error)


def test_hostile_names_are_printed_escaped(tmp_path, capsys):
    folder = folder_of(
        tmp_path,
        a=listening(7001) + bridge("b", 7002, "topic \x1b[31m\u202e both"),
        b=listening(7002) + bridge("a", 7001, "topic \x1b[31m\u202e both"),
    )
    assert main(["audit", str(folder)]) == 1
    printed = capsys.readouterr().out
    assert "\x1b" not in printed and "\u202e" not in printed and "loop: 1" in printed


def test_nothing_to_read_is_a_sentence(tmp_path, capsys):
    assert main(["audit", str(tmp_path)]) == 2
    assert main(["audit", str(tmp_path / "none.conf")]) == 2
    assert "none.conf is not there" in capsys.readouterr().err


@needs_mosquitto
@pytest.mark.parametrize("seed", [1, 2, 5])
def test_real_brokers_count_as_many_copies_as_predicted(seed):
    seen = trial(seed)
    assert seen.points and not seen.differences
    assert seen.stormed is not False
