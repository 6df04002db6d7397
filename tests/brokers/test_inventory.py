"""Inventories: what is read, what is refused, and that no secret is ever repeated."""

import json

import pytest

from topicloom.deploy import Broker, Inventory, Tls
from topicloom.errors import InputNotFoundError, InvalidInventoryError

SECRET = "hunter2-do-not-print"


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_three_formats_say_the_same(tmp_path):
    expected = {
        "a": Broker("a", "10.0.0.1", 1883, tls=Tls("/c/ca", "/c/crt", "/c/key"), credential="env:A", version="2.10"),
        "b": Broker("b", "b.example", 1884, leaf_port=7422, site="x", kind="nats", dials=False, credential="file:/s/b"),
    }
    csv = written(
        tmp_path,
        "i.csv",
        "node,host,port,leaf_port,site,kind,version,dials,accepts,tls_ca,tls_cert,tls_key,credential\n"
        "a,10.0.0.1,1883,,,,2.10,,,/c/ca,/c/crt,/c/key,env:A\n"
        "b,b.example,1884,7422,x,nats,,no,yes,,,,file:/s/b\n",
    )
    yaml = written(
        tmp_path,
        "i.yml",
        "brokers:\n- {node: a, host: 10.0.0.1, port: 1883, version: 2.10, credential: 'env:A',\n"
        "   tls: {ca: /c/ca, cert: /c/crt, key: /c/key}}\n"
        "- node: b\n  host: b.example\n  port: 1884\n  leaf_port: 7422\n  site: x\n  kind: nats\n  dials: no\n"
        "  accepts: yes\n  credential: file:/s/b\n",
    )
    entries = [
        {"node": "a", "host": "10.0.0.1", "port": 1883, "version": "2.10", "credential": "env:A",
         "tls": {"ca": "/c/ca", "cert": "/c/crt", "key": "/c/key"}},
        {"node": "b", "host": "b.example", "port": 1884, "leaf_port": 7422, "site": "x", "kind": "nats", "dials": False,
         "accepts": True, "credential": "file:/s/b"},
    ]  # fmt: skip
    jsonfile = written(tmp_path, "i.json", json.dumps(entries))
    loaded = [Inventory.load(path) for path in (csv, yaml, jsonfile)]
    assert [dict(one.brokers) for one in loaded] == [expected] * 3
    assert len({one.fingerprint for one in loaded}) == 1


@pytest.mark.parametrize("port", ["2.10", "2.20"])
def test_a_version_stays_as_it_is_written(tmp_path, port):
    path = written(tmp_path, "i.yaml", f"- {{node: a, host: h, port: 1, version: {port}}}\n")
    assert Inventory.load(path).brokers["a"].version == port


LITERALS = [
    ("i.csv", f"node,host,port,credential\na,h,1,env:OK\nb,h,2,{SECRET}\n", 3),
    ("i.csv", f"node,host,port,password\nb,h,2,{SECRET}\n", 2),
    ("i.csv", f"node,host,port\nb,user:{SECRET}@h,2\n", 2),
    ("i.csv", f"node,host,port,tls_ca,tls_cert,tls_key\nb,h,2,/ca,/cert,{SECRET}\n", 2),
    ("i.yaml", f"- node: a\n  host: h\n  port: 1\n  credential: {SECRET}\n", 4),
    ("i.yaml", f"- node: a\n  host: h\n  port: 1\n  tls: {{ca: /a, cert: /b, key: '{SECRET}'}}\n", 4),
    ("i.yaml", f"- node: a\n  host: h\n  secret: {SECRET}\n", 3),
    ("i.yaml", f"- node: a\n  credential: {SECRET}\n  - broken: [{SECRET}\n", None),
    ("i.yaml", f"- node: a\n  host: h\n  port: {SECRET}\n", 3),
    ("i.json", f'[\n {{"node": "a",\n  "host": "h", "port": 1,\n  "credential": "{SECRET}"}}]', 4),
    ("i.json", f'[{{"node": "a", "host": "h", "port": 1, "credential": "env:{SECRET}"}}]', 1),
    ("i.json", f'[{{"node": "a", "credential": "{SECRET}" oops]', 1),
]


@pytest.mark.parametrize(("name", "text", "line"), LITERALS)
def test_a_literal_secret_is_refused_with_its_line_and_not_printed(tmp_path, name, text, line):
    with pytest.raises(InvalidInventoryError) as refused:
        Inventory.load(written(tmp_path, name, text))
    assert SECRET not in str(refused.value)
    assert line is None or f"{name} line {line}:" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("i.csv", "node,host,port,colour\na,h,1,red\n", "unknown key 'colour'"),
        ("i.csv", "node,host\na,h\n", "port is missing"),
        ("i.csv", "node,host,port\na,h,0\n", "1 to 65535"),
        ("i.csv", "node,host,port\na,h,1,2\n", "4 cells under 3 columns"),
        ("i.csv", "node,host,port\na,h,1\na,h,2\n", "twice"),
        ("i.csv", "node,host,port\na,h,1\nb,h,1\n", "share h:1"),
        ("i.csv", "node,host,port\n", "names no broker"),
        ("i.csv", "node,host,port,dials\na,h,1,perhaps\n", "neither yes nor no"),
        ("i.csv", "node,host,port\na,h h,1\n", "host is not"),
        ("i.yaml", "- {node: a, host: h, port: 1, port: 2}\n", "stands twice"),
        ("i.yaml", "a: b\n", "not a list of brokers"),
        ("i.yaml", "- {node: a, host: h, port: [1]}\n", "not a single value"),
        ("i.json", '{"node": "a"}', "not a list of brokers"),
        ("i.toml", "", "ends in"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, name, text, words):
    with pytest.raises(InvalidInventoryError, match=words):
        Inventory.load(written(tmp_path, name, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputNotFoundError, match="nowhere"):
        Inventory.load(tmp_path / "nowhere.csv")
