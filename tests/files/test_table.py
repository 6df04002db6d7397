"""What a reading says about its rows."""

import os
import subprocess
import sys

import pytest

import topicloom as tl
from topicloom.errors import InputNotFoundError, MissingColumnError
from topicloom.files.read import read_links, read_subscriptions


def write(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_reading_is_an_interest(tmp_path):
    reading = tl.read_subscriptions(write(tmp_path / "s.csv", "node,topic\nb,x\na,x\na,x\n"))
    assert reading.interest().node_labels.tolist() == ["a", "b"]
    assert dict(reading.counts) == {"rows": 3, "used": 2, "repeated": 1, "rejected": 0}
    assert reading.notes == (
        f"{tmp_path}/s.csv: text, separator comma, UTF-8, header; node from 'node', topic from 'topic'",
    )


def test_skipped_files_are_named_with_the_reason(tmp_path):
    write(tmp_path / "a.csv", "node,topic\na,x\n")
    write(tmp_path / "a.csv.bak", "node,topic\nold,gone\n")
    (tmp_path / "_SUCCESS").touch()
    notes = read_subscriptions(tmp_path).notes
    assert notes[-1] == "2 skipped: _SUCCESS has a name that begins with '_'; a.csv.bak has a name of no known format"


def test_roles_are_kept_and_two_become_both(tmp_path):
    text = "node,topic,kind\na,x,publish\na,x,Subscribe\nb,x,\nb,x,both\nc,x,\nd,x,boss\n"
    reading = read_subscriptions(write(tmp_path / "s.csv", text), role_column="kind")
    assert reading.table.to_pylist() == [
        {"node": "a", "topic": "x", "role": "both"},
        {"node": "b", "topic": "x", "role": "both"},
        {"node": "c", "topic": "x", "role": None},
    ]
    assert reading.rejected["reason"].to_pylist() == ["role is 'boss', not publish, subscribe or both"]
    with pytest.raises(MissingColumnError, match="has no column 'role'"):
        read_subscriptions(tmp_path / "s.csv", role_column="role")


def test_labels_that_look_alike_and_patterns_are_warned_of(tmp_path):
    text = "node,topic\nBroker,t/#\nbroker,c++\nbroker ,e\u0301\nx,\u00e9\nx,a.*\n"
    found = read_subscriptions(write(tmp_path / "s.csv", text)).findings
    assert [(one.kind, one.what, one.number) for one in found] == [
        ("look-alikes", "node", 1), ("look-alikes", "topic", 1), ("blanks", "node", 1), ("wildcards", "topic", 2),
    ]  # fmt: skip
    assert found[0].examples == (("Broker", "broker", "broker "),)
    assert "'broker '" in found[2].sentence and "trim=True" in found[2].sentence
    assert "'a.*'; 't/#'" in found[3].sentence and "expand='mqtt'" in found[3].sentence


def test_patterns_are_expanded_if_asked(tmp_path):
    path = write(tmp_path / "s.csv", "node,topic\na,t/1\nb,t/2\nc,t/#\nd,z/+\ne,t/1\n")
    reading = read_subscriptions(path, expand="mqtt")
    pairs = sorted(zip(*reading.table.select(["node", "topic"]).to_pydict().values()))
    assert pairs == [("a", "t/1"), ("b", "t/2"), ("c", "t/1"), ("c", "t/2"), ("e", "t/1")]
    assert reading.rejected["reason"].to_pylist() == ["'z/+' matches no known topic"]
    assert dict(reading.counts) == {"rows": 5, "expanded": 1, "used": 5, "repeated": 0, "rejected": 1}


def test_links_have_the_same_rules(tmp_path):
    assert read_links(write(tmp_path / "l.csv", "src;dst\na;b\n")).table.to_pylist() == [{"src": "a", "dst": "b"}]
    with pytest.raises(MissingColumnError, match=r"perhaps src_column='from', dst_column='to'.*header=False"):
        read_links(write(tmp_path / "m.csv", "from,to\na,b\n"))
    reading = read_links(tmp_path / "m.csv", src_column="from", dst_column="to")
    assert reading.table.num_rows == 1
    assert read_links(write(tmp_path / "n.csv", "src,dst\na,\n")).reasons == {"dst is empty": 1}


def test_names_that_are_not_ascii_are_found_in_any_locale(tmp_path):
    for name in (b"a", "é".encode(), b"x\xff"):
        with open(os.fsencode(tmp_path) + b"/" + name + b".csv", "wb") as file:  # noqa: PTH123
            file.write(b"node,topic\nn,t\n")
    code = "import sys; from topicloom.files.read import read_subscriptions as r; print(r(sys.argv[1]).counts['rows'])"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code, tmp_path], env=environment, capture_output=True, check=False)
    assert done.stdout == b"3\n", done.stderr


def test_reading_imports_no_pyspark():
    code = "import sys, topicloom.files.read, topicloom.files.read.table; sys.exit('pyspark' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rows_of_which_none_can_be_used_are_no_interest(tmp_path):
    reading = read_subscriptions(write(tmp_path / "s.csv", "node,topic\n,x\na,\n,y\n"))
    with pytest.raises(
        InputNotFoundError, match="none of the 3 rows can be used: 2 × node is empty; 1 × topic is empty"
    ):
        reading.interest()
