"""Audits of hostile and of large configurations: a sentence or findings, at a cost that is counted."""

import itertools
import os
import sys

import pytest

import topicloom as tl
from brokers.fuzz import trial
from support.broker_networks import needs_mosquitto, needs_nats
from topicloom.brokers.auditing import audit_effort as effort
from topicloom.cli import main
from topicloom.errors import UnreadableInputError

HEAD = "listener 7001 127.0.0.1\n"


def dialling(own, *others, topics=("news",), more=""):
    """A broker that dials others, on ports from 7000."""
    bridges = "".join(
        f"connection c{own}-{other}\naddress 127.0.0.1:{7000 + other}\ncleansession true\n"
        + "".join(f"topic {topic} both 1\n" for topic in topics)
        for other in others
    )
    return f"listener {7000 + own} 127.0.0.1\n{bridges}{more}"


def refused(folder, capsys):
    assert main(["audit", str(folder)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    return printed


def test_a_pipe_among_included_files_is_refused_and_not_waited_for(tmp_path, capsys):
    (tmp_path / "a.conf").write_text(f"{HEAD}include_dir d\n")
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "d" / "x.conf")
    assert "x.conf is no regular file" in refused(tmp_path, capsys)


@pytest.mark.parametrize("name", ["a.conf", "subjects.json", "brokers.csv"])
def test_a_link_to_a_device_is_refused(tmp_path, capsys, name):
    (tmp_path / "b.conf").write_text("leafnodes { port: 7000 }\n")
    (tmp_path / name).symlink_to("/dev/zero")
    assert "is no regular file" in refused(tmp_path, capsys)


def test_an_include_dir_in_an_included_file_is_not_followed_and_said(tmp_path):
    (tmp_path / "a.conf").write_text(f"{HEAD}include_dir d\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x.conf").write_text("persistence false\ninclude_dir ../d\n")
    found = tl.audit(tmp_path)
    assert found.kinds == {"not-followed": 1}
    assert [str(place) for place in found.findings[0].places] == ["d/x.conf:2"]


def test_includes_of_nats_that_double_end_after_a_number_of_files(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(effort, "MOST_FILES", 500)
    for level in range(26):
        (tmp_path / f"{level}.inc").write_text(f"include {level + 1}.inc\ninclude {level + 1}.inc\n")
    (tmp_path / "26.inc").write_text("debug: true\n")
    (tmp_path / "a.conf").write_text("include 0.inc\n")
    assert "over 500 files are read" in refused(tmp_path, capsys)


def test_variables_of_nats_that_multiply_cost_what_is_written(tmp_path):
    lines = ["v0: [1, 2]", *(f"v{level}: [{', '.join([f'$v{level - 1}'] * 10)}]" for level in range(1, 40))]
    (tmp_path / "a.conf").write_text("\n".join([*lines, "server_tags: $v39", "leafnodes { port: 7000 }"]))
    assert tl.audit(tmp_path).ok


def test_accounts_that_share_a_long_list_are_counted(tmp_path, capsys):
    shared = "{stream: x}, " * 1000
    accounts = "".join(f"a{number} {{exports: $big}}\n" for number in range(2000))
    (tmp_path / "a.conf").write_text(f"big: [{shared.rstrip(', ')}]\naccounts {{\n{accounts}}}\n")
    assert "values are read in all" in refused(tmp_path, capsys)


def test_a_file_that_is_too_large_is_refused_and_blanks_are_not(tmp_path, capsys):
    (tmp_path / "a.conf").write_text("\n" * 2_000_000 + "port 1883\n")
    assert tl.audit(tmp_path).ok
    (tmp_path / "a.conf").write_bytes(b"\n" * (effort.MOST_BYTES + 1))
    assert "has over 10,000,000 bytes" in refused(tmp_path, capsys)


def test_bytes_and_files_are_counted_over_all_brokers(tmp_path, monkeypatch):
    monkeypatch.setattr(effort, "MOST_BYTES_IN_ALL", 200)
    for name in "abc":
        (tmp_path / f"{name}.conf").write_text(HEAD + "#" * 100)
    with pytest.raises(UnreadableInputError, match="over 200 bytes are read in all"):
        tl.audit(tmp_path)


def test_steps_end_and_what_was_not_followed_is_a_finding(tmp_path, monkeypatch):
    monkeypatch.setattr(effort, "MOST_STEPS", 500)
    (tmp_path / "a.conf").write_text(HEAD)
    (tmp_path / "b.conf").write_text(dialling(2, 1, topics=[f"t{number}" for number in range(100)]))
    assert tl.audit(tmp_path).kinds == {"not-followed": 1}


def test_thousands_of_wildcards_end_and_say_what_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(effort, "MOST_STEPS", 100_000)
    (tmp_path / "a.conf").write_text(HEAD)
    patterns = ["/".join(levels) for levels in itertools.product("+a", repeat=11)]
    (tmp_path / "b.conf").write_text(dialling(2, 1, topics=patterns))
    found = tl.audit(tmp_path)
    assert found.kinds["not-followed"] == 2


def steps_of(folder, monkeypatch):
    """Steps that an audit counted."""
    made = []
    monkeypatch.setattr(
        sys.modules["topicloom.brokers.auditing.audit"], "Effort", lambda: made.append(effort.Effort()) or made[-1]
    )
    assert tl.audit(folder).kinds == {"loop": 1}
    return made[0].steps


@pytest.mark.parametrize("brokers", [10, 20])
def test_a_full_mesh_costs_its_rows(tmp_path, monkeypatch, brokers):
    topics = [f"t{number}" for number in range(5)]
    for own in range(brokers):
        (tmp_path / f"n{own}.conf").write_text(dialling(own, *range(own), topics=topics))
    rows = len(topics) * brokers * (brokers - 1) // 2
    assert steps_of(tmp_path, monkeypatch) < 20 * rows + 20 * brokers * len(topics)


def test_thousands_of_connections_to_one_broker_are_read(tmp_path):
    (tmp_path / "n1.conf").write_text(HEAD)
    bridges = "connection c{0}\naddress 127.0.0.1:7001\ncleansession true\ntopic t{0} both\n"
    (tmp_path / "n2.conf").write_text("listener 7002\n" + "".join(map(bridges.format, range(5000))))
    assert len(tl.audit(tmp_path).rows) == 5000


def circles(folder, interest=None):
    return [finding for finding in tl.audit(folder, interest).findings if finding.kind == "loop"]


def test_eleven_circles_are_eleven_findings_in_one_run(tmp_path):
    for number in range(33):
        first = number - number % 3
        others = [] if number == first else [number - 1]
        others += [first] if number == first + 2 else []
        others += [first - 1] if number == first and first else []
        (tmp_path / f"n{number}.conf").write_text(dialling(number, *others))
    found = circles(tmp_path)
    assert len(found) == 11
    assert {tuple(sorted({place.file for place in one.places})) for one in found} == {
        tuple(sorted(f"n{first + step}.conf" for step in (1, 2))) for first in range(0, 33, 3)
    }


def test_two_circles_with_ten_topics_are_two_findings_with_their_topics(tmp_path):
    topics = [f"t{number}" for number in range(10)]
    for first in (0, 3):
        for step, others in enumerate([[], [first], [first, first + 1]]):
            (tmp_path / f"n{first + step}.conf").write_text(dialling(first + step, *others, topics=topics))
    interest = tl.Interest.from_pairs(*zip(*[(f"n{node}", topic) for node in range(6) for topic in topics]))
    found = circles(tmp_path, interest)
    assert len(found) == 2
    assert all(set(one.topics) == set(topics) for one in found)
    assert "so do 9 more: 't1', 't2', 't3', …" in found[0].text


def test_circles_of_names_that_change_are_found_and_told_apart(tmp_path):
    lines = "topic t both 0 {0} {1}\n"
    for first in (0, 3):
        for step, others in enumerate([[], [first], [first, first + 1]]):
            text = dialling(first + step, *others).replace("topic news both 1\n", lines.format("x/", "x/"))
            (tmp_path / f"n{first + step}.conf").write_text(text)
    assert len(circles(tmp_path)) == 2


def test_copies_of_several_ways_are_multiplied_beyond_the_first_broker(tmp_path):
    # two ways into b, two more from b to c: a message of a is there four times
    both = "connection {0}\naddress 127.0.0.1:{1}\ncleansession true\ntopic news in\n"
    (tmp_path / "a.conf").write_text("listener 7001\n")
    (tmp_path / "b.conf").write_text("listener 7002\n" + both.format("one", 7001) + both.format("two", 7001))
    (tmp_path / "c.conf").write_text("listener 7003\n" + both.format("one", 7002) + both.format("two", 7002))
    (tmp_path / "d.conf").write_text("listener 7004\n" + both.format("one", 7003))
    found = [finding.text for finding in tl.audit(tmp_path).findings if finding.kind == "duplicate"]
    assert len(found) == 1
    assert "'news' published at 'a' arrives 4 times at 'c'" in found[0]


def test_one_latin_1_comment_does_not_stop_the_audit(tmp_path, capsys):
    (tmp_path / "a.conf").write_bytes(b"# B\xfcro\n" + HEAD.encode())
    assert tl.audit(tmp_path).ok
    (tmp_path / "a.conf").write_bytes(HEAD.encode() + b"log_timestamp_format B\xfcro\n")
    assert "a.conf:2: the value of log_timestamp_format is not UTF-8" in refused(tmp_path, capsys)
    (tmp_path / "a.conf").write_bytes(b"leafnodes { port: 7000 } # B\xfcro\n")
    assert tl.audit(tmp_path).ok


def test_umlauts_are_printed_as_they_are(tmp_path, capsys):
    (tmp_path / "zähler.conf").write_text(dialling(1, 2, topics=["störung"]))
    (tmp_path / "b.conf").write_text(dialling(2, 1, topics=["störung"]))
    assert main(["audit", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "'störung' published at 'b' runs in a circle" in printed
    assert "'zähler'" in printed


def test_a_field_that_is_too_long_for_a_table_is_a_sentence(tmp_path, capsys):
    (tmp_path / "a.conf").write_text(HEAD)
    (tmp_path / "brokers.csv").write_text("node,slug,file\n" + "x" * 200_000 + ",a,a.conf\n")
    assert "brokers.csv, line 2: field larger than field limit" in refused(tmp_path, capsys)


def test_places_say_which_broker(tmp_path):
    for name, port in (("hub", 7001), ("edge", 7002)):
        (tmp_path / name / "conf.d").mkdir(parents=True)
        (tmp_path / name / "mosquitto.conf").write_text(f"listener {port}\ninclude_dir conf.d\n")
        (tmp_path / name / "conf.d" / "x.conf").write_text("plugin a.so\n")
    for given in ([tmp_path], [tmp_path / "hub", tmp_path / "edge"]):
        places = {str(place) for finding in tl.audit(given).findings for place in finding.places}
        assert places == {"hub/conf.d/x.conf:1", "edge/conf.d/x.conf:1"}


@needs_mosquitto
@needs_nats
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_what_brokers_refuse_is_never_passed_in_silence(tmp_path, first):
    for seed in range(first, first + 10):
        (tmp_path / str(seed)).mkdir()
        assert trial(seed, tmp_path / str(seed), ask=seed % 2 == 0).wrong is None, f"seed {seed}"
