"""Audits of NATS: grammar, leaf connections, accounts, and our own exports come back as their routes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom as tl
from brokers.fuzz import broker_refuses
from support.broker_networks import loopback, needs_nats, planned, stand_in
from topicloom.brokers.nats.nats_file import read_nats_file
from topicloom.cli import main
from topicloom.deploy import export, write_export
from topicloom.errors import TopicloomError
from topicloom.files.read import read_subscriptions

SECRET = "hunter2-the-value"


def folder_of(tmp_path, **files):
    for name, text in files.items():
        (tmp_path / f"{name}.conf").write_text(text)
    return tmp_path


def server(port, *dialled, more=""):
    remotes = ", ".join(f'{{url: "nats-leaf://127.0.0.1:{other}"}}' for other in dialled)
    return f"leafnodes {{ listen: 127.0.0.1:{port}, remotes: [{remotes}] }}\n{more}"


def plain(node):
    if isinstance(node.value, dict):
        return {key: plain(inner) for key, inner in node.value.items()}
    return [plain(inner) for inner in node.value] if isinstance(node.value, list) else node.value


def test_the_grammar_of_the_server_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDITED_HOST", "10.0.0.1")
    (tmp_path / "more.conf").write_text("max_payload: 8MB # size\n")
    (tmp_path / "x.conf").write_text(
        "a = 1; b: 'two' // comment\nc { NAME: deep, d: $NAME }\nNAME: outer\n"
        'e: [$NAME, "q\\"\\\\", x]\nf (\n raw # text\n)\ng: $AUDITED_HOST\ninclude more.conf\nh $NOT_SET_AT_ALL\n'
    )
    assert plain(read_nats_file(tmp_path / "x.conf", "x.conf")) == {
        "a": "1", "b": "two", "c": {"name": "deep", "d": "deep"}, "name": "outer", "e": ["outer", 'q"\\', "x"],
        "f": "raw # text", "g": "10.0.0.1", "max_payload": "8MB", "h": None,
    }  # fmt: skip


def test_json_is_a_configuration_too(tmp_path):
    (tmp_path / "x.conf").write_text('{"leafnodes": {"port": 7000, "remotes": []}}')
    assert tl.audit(tmp_path).ok


def test_a_chain_is_clean_and_a_circle_is_a_loop(tmp_path):
    folder_of(tmp_path, a=server(7001), b=server(7002, 7001), c=server(7003, 7002))
    assert tl.audit(tmp_path).ok
    folder_of(tmp_path, a=server(7001, 7003))
    loops = [finding for finding in tl.audit(tmp_path).findings if finding.kind == "loop"]
    assert len(loops) == 1
    assert {place.file for place in loops[0].places} == {"a.conf", "b.conf", "c.conf"}


def test_a_server_that_dials_two_others_cuts_them_apart_and_strangers_are_named(tmp_path):
    folder_of(tmp_path, a=server(7001), b=server(7002), c=server(7003, 7001, 7002))
    assert tl.audit(tmp_path).kinds == {"cut-off": 1}
    folder_of(tmp_path, c=server(7003, 7009))
    assert "unknown-peer" in tl.audit(tmp_path).kinds


def test_a_subject_imported_from_two_forests_arrives_twice(tmp_path):
    def both(port, *remotes):
        accounts = "".join(
            f"g{one} {{users: [{{user: u{one}, password: $P}}], exports: [{{stream: s}}, {{service: s}}]}}\n"
            for one in (0, 1)
        )
        taken = ", ".join(
            f"{{{kind}: {{account: g{one}, subject: s}}}}" for one in (0, 1) for kind in ("stream", "service")
        )
        dialled = ", ".join(f"{{url: 'nats://u{one}@127.0.0.1:{other}', account: g{one}}}" for one, other in remotes)
        app = f"app {{users: [{{user: app, password: $P}}], imports: [{taken}]}}"
        leafs = f"leafnodes {{listen: '127.0.0.1:{port}', remotes: [{dialled}]}}"
        return f"accounts {{\n{accounts}{app}\n}}\nno_auth_user: app\n{leafs}"

    folder_of(tmp_path, a=both(7001), b=both(7002, (0, 7001), (1, 7001)))
    found = tl.audit(tmp_path)
    assert found.kinds == {"duplicate": 1}
    assert "arrives 2 times" in found.findings[0].text


def test_secrets_are_reported_by_line_and_never_by_value(tmp_path, capsys):
    more = f"authorization {{ user: a\n password: {SECRET} }}\nwebsocket {{ token: $NOT_SET_AT_ALL }}\n"
    url = f'leafnodes {{ remotes: [{{url: "nats://u:{SECRET}@10.0.0.1:7422"}}] }}\n'
    folder_of(tmp_path, a=server(7001, more=more), b=url)
    assert main(["audit", str(tmp_path)]) == 1
    assert main(["audit", str(tmp_path), "--json"]) == 1
    printed = "".join(capsys.readouterr())
    assert "a.conf:3" in printed and "b.conf:1" in printed and SECRET not in printed
    assert SECRET not in repr(tl.audit(tmp_path))


def as_set(rows):
    return {(row.topic, *sorted((row.src, row.dst)), row.owner) for row in rows}


def comes_back(interest, folder):
    """Whether an export is read back; without credentials it holds no password."""
    network = planned(interest)
    write_export(export(network, "nats", loopback(network)), folder)
    found = tl.audit(folder, interest)
    assert found.ok, found.findings
    return as_set(found.rows) == as_set(network.rows)


@pytest.mark.parametrize("make", [tl.datasets.example, lambda: stand_in(nodes=20, topics=30)])
def test_our_exports_come_back_as_the_routes_they_were_made_from(tmp_path, make):
    assert comes_back(make(), tmp_path / "out")


def test_exports_with_credentials_come_back_and_hold_no_secret(tmp_path):
    interest = stand_in(nodes=12, topics=20)
    network = planned(interest)
    secured = loopback(network, credential="env:AUDITED_SECRET")
    write_export(export(network, "nats", secured), tmp_path / "out")
    found = tl.audit(tmp_path / "out", interest)
    assert found.ok, found.findings
    assert as_set(found.rows) == as_set(network.rows)


def test_the_robot_comes_back_as_its_routes(tmp_path, dataset):
    assert comes_back(read_subscriptions(dataset("ros2_autoware.csv")).interest(), tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leafnodes {", "b.conf:1: a key or } is expected"),
        ("a: [1, 2\n\n", "b.conf:3: a list has no end"),
        ('a: {\nb: "open\n}', "b.conf:2: a quoted text has no end"),
        ("a: {}\ninclude nowhere.conf", "b.conf:2: the included file 'nowhere.conf' is not there"),
        ("a: {}\ninclude b.conf", "include each other"),
        ("leafnodes { port: many }", "b.conf:1: leaf connections need a port"),
        ("a: " + "[" * 5000, "nested more than"),
    ],
)
def test_what_the_server_would_refuse_is_one_sentence_with_its_line(tmp_path, text, said, capsys):
    assert main(["audit", str(folder_of(tmp_path, b=text))]) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1


REFUSED = [
    ("frobnicate: yes\n", "b.conf:1: 'frobnicate' is no field"),
    ("debug: true\nport: many\n", "b.conf:2: port needs a number"),
    ("listen: h\n", "b.conf:1: listen needs host:port"),
    ("leafnodes { port: 7000, frob: 1 }", "b.conf:1: 'frob' is no field"),
    ("debug: true trace: true\n", "b.conf:1: a comma or a new line is expected"),
    ('server_name: "a\\q"\n', "b.conf:1: the escape 'q' is not known"),
    ("accounts { A: {users: [{user: a}, {user: a}]}}", "b.conf:1: user 'a' is there twice"),
    ("accounts { A: {imports: [{stream: {account: B, subject: x}}]}}", "b.conf:1: there is no account 'b'"),
    (
        "accounts { A: {exports: [{stream: x}]}, B: {imports: [{stream: {account: A, subject: y}}]}}",
        "b.conf:1: account 'a' does not export 'y'",
    ),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_the_server_would_not_start_with_is_refused(tmp_path, text, said, capsys):
    assert main(["audit", str(folder_of(tmp_path, b=text))]) == 2
    printed = capsys.readouterr().err
    assert said in printed and printed.count("\n") == 1


@needs_nats
@pytest.mark.parametrize("text", [text for text, _ in REFUSED])
def test_the_server_does_not_start_with_it(tmp_path, text):
    assert broker_refuses("nats", folder_of(tmp_path, b=text) / "b.conf")


def test_clusters_and_what_else_is_not_followed_are_findings_with_their_lines(tmp_path):
    more = "cluster { name: c, port: 6222 }\njetstream: true\n"
    folder_of(tmp_path, a=server(7001, more=more), b=server(7002, 7001))
    found = tl.audit(tmp_path)
    assert found.kinds == {"not-followed": 2}
    assert {str(place) for one in found.findings for place in one.places} == {"a.conf:2", "a.conf:3"}


def test_a_password_with_signs_in_an_address_is_never_printed(tmp_path, capsys):
    folder_of(tmp_path, a=f'leafnodes {{ remotes: [{{url: "nats://u:p@/{SECRET}@10.0.0.1:7422"}}] }}\n')
    assert main(["audit", str(tmp_path)]) == 1
    printed = "".join(capsys.readouterr())
    assert "secret: 1" in printed and SECRET not in printed


def test_two_kinds_at_once_are_refused(tmp_path, capsys):
    assert main(["audit", str(folder_of(tmp_path, a="listener 1883\n", b=server(7001)))]) == 2
    assert "audit them separately" in capsys.readouterr().err


@given(st.text(alphabet="a{}[]()\"'$:=,;#/\\\n 1@.>*", max_size=60))
def test_any_text_is_read_or_refused_with_a_sentence(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("any")
    (folder / "b.conf").write_text("accounts: { x: {} }\nleafnodes: { remotes: [" + text)
    try:
        tl.audit(folder)
    except TopicloomError as error:
        assert str(error)
