"""Tables that commands read: the same options everywhere, and an exit code that says when too much is unread."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import COMMANDS, main

MEMORY = ("--engine", "memory")


def run(capsys, *argv):
    code = main([str(argument) for argument in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.fixture
def subs(tmp_path):
    return write(tmp_path / "subs.csv", "Broker;Filter\n" + "".join(f"{v};{t}\n" for t in "xy" for v in "abcd"))


COLUMNS = ("--node-column", "Broker", "--topic-column", "Filter")


def test_mostly_unread_input_is_exit_code_1_and_the_output_is_there(tmp_path, capsys):
    rows = "".join(f"{node},x\n" for node in "abc")
    source = write(tmp_path / "s.csv", "node,topic\n" + rows + "only\n" * 7)
    code, _, said = run(capsys, "design", source, tmp_path / "out", *MEMORY)
    assert code == 1 and tl.Overlay.load(tmp_path / "out").verify().ok
    sentence = "topicloom: too much is unread: 7 of 10 rows are rejected, and the answer is about the others alone"
    assert said.splitlines()[-1] == f"{sentence}; see what was rejected, or say --lenient"
    code, _, said = run(capsys, "design", source, tmp_path / "lenient", *MEMORY, "--lenient")
    assert code == 0 and "warning: too much is unread: 7 of 10" in said
    code, printed, said = run(capsys, "verify", source, tmp_path / "out", *MEMORY, "--json")
    assert code == 1 and json.loads(printed)["ok"] and "7 of 10" in said
    few = write(tmp_path / "few.csv", "node,topic\n" + "".join(f"n{n},x\n" for n in range(19)) + "only\n")
    code, _, said = run(capsys, "design", few, tmp_path / "few", *MEMORY)
    assert code == 0 and "too much" not in said  # 5 % and not more


def test_mostly_unread_links_are_exit_code_1(subs, tmp_path, capsys):
    links = write(tmp_path / "l.csv", "src,dst\na,b\nb,c\nc,d\n" + "only\n")
    code, printed, said = run(capsys, "verify", subs, links, *COLUMNS, *MEMORY)
    assert code == 1 and "holds: all 2 topics" in printed and "1 of 4 rows are rejected" in said
    code, _, said = run(capsys, "diff", links, links)
    assert code == 1 and "1 of 4 rows are rejected" in said
    assert run(capsys, "diff", links, links, "--lenient")[0] == 0


def test_names_of_columns_below_other_lines_are_reached_by_what_the_message_says(tmp_path, capsys):
    text = "Needs;;\nas of today;;\nBroker;Site;Topic\na;x;t\nb;x;t\n"
    source = write(tmp_path / "s.csv", text)
    code, _, said = run(capsys, "design", source, tmp_path / "out", *MEMORY)
    assert code == 2 and "--no-header" not in said
    assert "line 3: say --skip-lines 2 --node-column 'Broker' --topic-column 'Topic'" in said
    options = ("--skip-lines", 2, "--node-column", "Broker", "--topic-column", "Topic")
    assert run(capsys, "design", source, tmp_path / "out", *MEMORY, *options)[0] == 0
    assert tl.Overlay.load(tmp_path / "out").interest.n_nodes == 2
    links = write(tmp_path / "l.csv", "Links of today\nfrom,to\na,b\n")
    code, _, said = run(capsys, "diff", links, links)
    assert code == 2 and "say --links-skip-lines 1 --src-column 'from' --dst-column 'to'" in said
    options = ("--links-skip-lines", 1, "--src-column", "from", "--dst-column", "to")
    assert run(capsys, "diff", links, links, *options)[0] == 0


def test_topics_of_one_subscriber_and_lists_of_topics_are_said(tmp_path, capsys):
    source = write(tmp_path / "s.csv", "node;topic\n" + "".join(f'b{n};"t{n}, t{n + 1}"\n' for n in range(6)))
    code, printed, said = run(capsys, "design", source, tmp_path / "out", *MEMORY)
    assert code == 0 and "6 topics look like several in one field" in said
    assert "is taken as one topic unless --topics-separator ',' is given" in said
    (line,) = (line for line in printed.splitlines() if line.startswith("topics of a single subscriber"))
    assert line.split()[5] == "6"
    options = ("--topics-separator", ",", "--trim", "--json")
    code, printed, said = run(capsys, "design", source, tmp_path / "two", *MEMORY, *options)
    counts = json.loads(printed)["run"]["counts"]
    assert (code, counts["topics"], counts["topics_of_one"]) == (0, 7, 2) and "several" not in said


def test_counts_after_expand_are_of_the_rows_of_the_file(tmp_path, capsys):
    source = write(tmp_path / "s.csv", "node,topic\na,t/1\nb,t/2\nc,t/#\nc,t/1\nd,t/+\n")
    code, printed, said = run(capsys, "design", source, tmp_path / "out", *MEMORY, "--expand", "mqtt", "--json")
    assert code == 0 and "5 rows and 2 more of their patterns = 6 used + 1 repeated + 0 rejected" in said
    counts = json.loads(printed)["run"]["counts"]
    assert {name: counts[name] for name in ("rows", "expanded", "subscriptions", "repeated", "rejected")} == {
        "rows": 5, "expanded": 2, "subscriptions": 6, "repeated": 1, "rejected": 0,
    }  # fmt: skip


def test_audit_and_plan_have_the_options_that_they_recommend(subs, tmp_path, capsys):
    (tmp_path / "etc").mkdir()
    write(tmp_path / "etc/a.conf", "connection to-b\naddress 127.0.0.1:2\ntopic x both 1\nlistener 1\n")
    write(tmp_path / "etc/b.conf", "listener 2\n")
    code, _, said = run(capsys, "audit", tmp_path / "etc", "--interest", subs)
    assert code == 2 and "perhaps --node-column 'Broker' --topic-column 'Filter'" in said
    code, _, said = run(capsys, "audit", tmp_path / "etc", "--interest", subs, *COLUMNS)
    assert code == 1 and "8 used" in said
    run(capsys, "design", subs, tmp_path / "overlay", *COLUMNS, *MEMORY)
    today = write(tmp_path / "today.csv", "Broker;Filter\n" + "".join(f"{v};{t}\n" for t in "xy" for v in "abcd"))
    code, _, said = run(capsys, "plan", today, "--from", tmp_path / "overlay")
    assert code == 2 and "--node-column 'Broker'" in said
    code, printed, _ = run(capsys, "plan", today, "--from", tmp_path / "overlay", *COLUMNS)
    assert code == 0 and "no changes" in printed


def test_a_field_over_128_kib_beside_configurations_is_a_sentence(tmp_path, capsys):
    write(tmp_path / "a.conf", "listener 1\n")
    write(tmp_path / "brokers.csv", "file,node\na.conf," + "x" * 140_000 + "\n")
    code, _, said = run(capsys, "audit", tmp_path)
    assert code == 2 and "brokers.csv, line 2: field larger than field limit" in said
    assert "unexpectedly" not in said


GROUP = ("--node-column", "--topic-column", "--separator", "--encoding", "--trim", "--skip-lines", "--lenient")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("generate", "methods", "study", "stream")])
def test_every_command_that_reads_subscriptions_has_all_options_of_the_group(name, capsys):
    _, printed, _ = run(capsys, name, "--help")
    has = [option for option in GROUP if f"{option} " in printed or f"{option}\n" in printed]
    if name == "diff":
        assert set(has) >= {"--separator", "--encoding", "--trim", "--lenient"}
    elif "--node-column" in has or "--lenient" in has:
        assert has == list(GROUP)
    else:
        of_directories = ("bound", "refine", "routes", "export", "rehearse", "show", "join")
        assert name in (*of_directories, "digest", "star-set", "join-stars")
    if "--inventory" in printed:
        assert {"--separator", "--encoding", "--trim"} <= set(has)


@pytest.mark.parametrize(("separator", "encoding"), [(";", "latin-1"), ("|", "utf-16"), ("\t", "utf-8-sig")])
def test_forbidden_pairs_and_rates_are_read_as_other_tables_are(tmp_path, capsys, separator, encoding):
    rows = "".join(f"{node}{separator}{topic}\n" for node in ("ä", "b", "c") for topic in "xy")
    source = write(tmp_path / "s.csv", f"Node{separator}topic\n" + rows, encoding)
    pairs = write(tmp_path / "f.csv", f"von{separator}DST\nä {separator}b\n", encoding)
    options = (*MEMORY, *(("--encoding", "latin-1") if encoding == "latin-1" else ()))
    code, _, said = run(capsys, "design", source, tmp_path / "out", *options, "--forbid", pairs)
    assert code == 2 and "has no column 'src'" in said and "perhaps --src-column 'von'" in said
    options = (*options, "--forbid", pairs, "--src-column", "von", "--trim")
    code, _, said = run(capsys, "design", source, tmp_path / "out", *options)
    assert code == 0, said
    made = tl.Overlay.load(tmp_path / "out")
    names = made.interest.node_labels.tolist()
    assert {tuple(sorted(names[end] for end in link)) for link in made.links.tolist()} == {("b", "c"), ("c", "ä")}
    rates = write(tmp_path / "r.csv", f"Topic{separator}Rate\nx {separator}2.5\ny{separator} 1\n", encoding)
    options = ("--rates", rates, "--trim", *(("--encoding", "latin-1") if encoding == "latin-1" else ()))
    assert run(capsys, "routes", tmp_path / "out", tmp_path / "plan", *options)[0] == 0


def test_rows_of_forbidden_pairs_and_rates_all_count(subs, tmp_path, capsys):
    pairs = write(tmp_path / "f.csv", "src,dst\na,b\na\n")
    code, _, said = run(capsys, "design", subs, tmp_path / "out", *COLUMNS, *MEMORY, "--forbid", pairs)
    assert code == 2 and "f.csv, line 3: 1 field, 2 are expected" in said and not (tmp_path / "out").exists()
    write(pairs, "src,dst\n" + "x" * 140_000 + ",b\n")
    code, _, said = run(capsys, "design", subs, tmp_path / "out", *COLUMNS, *MEMORY, "--forbid", pairs)
    assert code == 2 and "f.csv, line 2: src is over 64 KiB" in said
    write(pairs, "a,c\na,d\nb,c\nb,d\n")
    code, _, said = run(capsys, "design", subs, tmp_path / "out", *COLUMNS, *MEMORY, "--forbid", pairs)
    assert code == 2 and "if the first line is data, say --links-no-header" in said
    options = ("--forbid", pairs, "--links-no-header")
    code, _, said = run(capsys, "design", subs, tmp_path / "out", *COLUMNS, *MEMORY, *options)
    assert code == 1 and "topic 'x' cannot be connected" in said
    run(capsys, "design", subs, tmp_path / "good", *COLUMNS, *MEMORY)
    for text, why in (
        ("topic,rate\nx,fast\n", "rate 'fast' of topic 'x' is not a number"),
        ("topic,rate\nx,1\nx,2\n", "topic 'x' has two rates, 1 and 2"),
        ("topic,rate\nx,\n", "line 2: rate is empty"),
        ("Subject,Load\nx,1\n", "perhaps --topic-column 'Subject' --rate-column 'Load'"),
        ("topic,rate\nx,1" + "0" * 140_000 + "\n", "line 2: rate is over 64 KiB"),
    ):
        rates = write(tmp_path / "r.csv", text)
        code, _, said = run(capsys, "routes", tmp_path / "good", tmp_path / "plan", "--rates", rates)
        assert code == 2 and why in said
    options = ("--rates", rates, "--topic-column", "Subject", "--rate-column", "Load")
    write(rates, "Subject,Load\nx,1\n")
    assert run(capsys, "routes", tmp_path / "good", tmp_path / "plan", *options)[0] == 0


def test_a_broker_with_a_blank_behind_its_name_is_warned_of_and_served(tmp_path, capsys):
    source = write(tmp_path / "s.csv", "node,topic\nmq-1,x\nmq-3 ,x\n")
    brokers = write(tmp_path / "b.csv", "Node;Host;Port\nmq-1;h1;1883\nmq-3 ;h3;1883\n")
    code, _, said = run(capsys, "design", source, tmp_path / "out", *MEMORY, "--inventory", brokers)
    assert (
        code == 0 and "1 node begins or ends with a blank, such as 'mq-3 '" in said and "unless --trim is given" in said
    )
    assert run(capsys, "routes", tmp_path / "out", tmp_path / "plan", "--inventory", brokers)[0] == 0
    options = ("--to", "mosquitto", "--inventory", brokers)
    assert run(capsys, "export", tmp_path / "plan", tmp_path / "etc", *options)[0] == 0
    assert run(capsys, "routes", tmp_path / "out", tmp_path / "plan-2", "--inventory", brokers, "--trim")[0] == 2
    options = ("--inventory", brokers, "--trim")
    assert run(capsys, "design", source, tmp_path / "two", *MEMORY, *options)[0] == 0
    assert tl.Overlay.load(tmp_path / "two").interest.node_labels.tolist() == ["mq-1", "mq-3"]


def test_a_separator_of_subscriptions_is_only_tried_on_links(tmp_path, capsys):
    source = write(tmp_path / "s.csv", "node^topic\na^x\nb^x\n")
    for name, text in (("comma.csv", "src,dst\na,b\n"), ("caret.csv", "src^dst\na^b\n")):
        links = write(tmp_path / name, text)
        assert run(capsys, "verify", source, links, "--separator", "^", *MEMORY)[0] == 0
