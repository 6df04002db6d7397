"""The commands as functions: main(argv) on the tests' own Spark session."""

import json
import os
import sys
from pathlib import Path

import pytest

import topicloom as tl
from topicloom.cli import app
from topicloom.cli.app import main
from topicloom.spark import tasks
from topicloom.spark.session.session import spark_session


@pytest.fixture
def subscriptions(tmp_path):
    path = tmp_path / "subscriptions.csv"
    path.write_text("node,topic\na,x\na,y\nb,x\nb,y\nc,x\nc,z\nd,x\nd,z\n,x\na,x\n")
    return path


def run(capsys, *argv):
    code = main([str(argument) for argument in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_from_a_file_to_a_verified_overlay(shared_session, subscriptions, tmp_path, capsys):
    out = tmp_path / "overlay"
    code, printed, said = run(capsys, "design", "--lenient", subscriptions, out, "--seed", "5")
    assert code == 0
    assert "average degree" in printed and "3 of 3" in printed
    links = next(line for line in printed.splitlines() if line.startswith("links "))
    assert links.split() == ["links", "3", "4", "6"]  # designed, ring per topic, full mesh
    assert "4 nodes, 3 topics, 8 subscriptions" in said and "10 rows = 8 used + 1 repeated + 1 rejected" in said
    assert f"{subscriptions}, line 10: ',x': node is empty" in said
    assert "verified" in said
    overlay = tl.Overlay.load(out)
    expected = tl.design(tl.Interest.from_pairs(list("aabbccdd"), list("xyxyxzxz")), "gm", seed=5)
    assert overlay.links.tolist() == expected.links.tolist()

    code, printed, said = run(capsys, "verify", "--lenient", subscriptions, out)
    assert (code, printed) == (0, "holds: all 3 topics are topic-connected\n")
    assert "separator comma, UTF-8, header" in said and "10 rows = 8 used + 1 repeated + 1 rejected" in said

    code, printed, said = run(capsys, "measure", "--lenient", subscriptions, out, "--json")
    assert code == 0
    assert json.loads(printed) == json.loads((out / "metrics.json").read_text())


def test_verify_names_what_is_broken(shared_session, subscriptions, tmp_path, capsys):
    (tmp_path / "links.csv").write_text("src,dst\na,b\nc,d\na,d\nb,a\n")
    assert run(capsys, "verify", "--lenient", subscriptions, tmp_path / "links.csv")[0] == 0
    (tmp_path / "links.csv").write_text("src,dst\na,b\nc,d\n")
    code, printed, _ = run(capsys, "verify", "--lenient", subscriptions, tmp_path / "links.csv")
    assert code == 1
    assert "topic x: 2 components; a cannot reach c" in printed
    assert "broken: 1 of 3 topics are not topic-connected" in printed
    code, printed, _ = run(capsys, "verify", "--lenient", subscriptions, tmp_path / "links.csv", "--json")
    assert code == 1
    assert json.loads(printed)["broken"] == [{"topic": "x", "components": 2, "witness": ["a", "c"]}]


def test_verify_at_k_2_names_the_weak_node(shared_session, tmp_path, capsys):
    (tmp_path / "subs.csv").write_text("node,topic\na,x\nb,x\nc,x\n")
    (tmp_path / "links.csv").write_text("src,dst\na,b\nb,c\n")
    code, printed, _ = run(capsys, "verify", tmp_path / "subs.csv", tmp_path / "links.csv", "--k", "2")
    assert code == 1
    assert "topic x" in printed and "b" in printed.splitlines()[0]


def test_what_is_odd_about_links_is_a_finding_and_no_refusal(shared_session, subscriptions, tmp_path, capsys):
    links = tmp_path / "links.csv"
    (tmp_path / "more.csv").write_text(subscriptions.read_text() + "e,lonely\n")
    links.write_text("src,dst\na,b\nb,c\nc,d\na,e\n")
    code, _, said = run(capsys, "verify", "--lenient", tmp_path / "more.csv", links)
    assert code == 0 and "warning: 1 links serve no topic: the nodes that they join share none\n" in said
    links.write_text("src,dst\na,b\nb,nobody\nb\n,a\nc,c\nc,core\ncore,a\nc,d\n")
    for engine in ("memory", "spark", "distributed"):
        code, printed, said = run(capsys, "verify", "--lenient", subscriptions, links, "--engine", engine)
        assert code == 1 and "topic x: 2 components; a cannot reach c" in printed
        assert "line 10: ',x': node is empty" in said  # of the subscriptions, as design says it
        assert "links: 8 rows = 5 links + 0 repeated + 1 of a node with itself + 2 rejected" in said
        assert "line 4: 'b': 1 field, 2 are expected" in said and "line 5: ',a': src is empty" in said
        assert "finding: 'nobody' is in the links, but not in the subscriptions" in said
        assert "finding: 'core' is a transit node" in said and "finding: 'c' is linked with itself" in said
        code, printed, _ = run(capsys, "measure", "--lenient", subscriptions, links, "--json", "--engine", engine)
        facts = json.loads(printed)
        assert (code, facts["nodes"], facts["links"], facts["unwanted_relays"]) == (0, 6, 5, 1)
        assert facts["link_findings"]["transit"] == ["core"]


def test_measure_of_a_broken_overlay_is_infinite(shared_session, subscriptions, tmp_path, capsys):
    (tmp_path / "links.csv").write_text("src,dst\na,b\nc,d\n")
    code, printed, _ = run(capsys, "measure", "--lenient", subscriptions, tmp_path / "links.csv", "--json")
    assert code == 0 and json.loads(printed)["max_topic_diameter"] is None
    code, printed, said = run(capsys, "measure", "--lenient", subscriptions, tmp_path / "links.csv")
    assert "∞" in printed and "1 topic broken" in said


def test_a_dry_run_says_what_it_would_do(shared_session, subscriptions, tmp_path, capsys):
    code, printed, said = run(
        capsys, "design", "--lenient", subscriptions, tmp_path / "overlay", "--dry-run", "--method", "ring-pt"
    )
    assert code == 0 and printed == ""
    assert "4 nodes" in said and "ring-pt" in said and "MiB" in said
    assert not (tmp_path / "overlay").exists()


def test_more_memory_than_there_is_is_refused(shared_session, subscriptions, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tasks, "available_memory", lambda: 10)
    code, _, said = run(capsys, "design", "--lenient", subscriptions, tmp_path / "overlay")
    assert code == 2 and "gm needs about" in said and "no method fits" in said


def test_an_existing_output_is_kept_unless_it_may_be_replaced(shared_session, subscriptions, tmp_path, capsys):
    out = tmp_path / "overlay"
    tl.design(tl.Interest.from_pairs(["a", "b"], ["x", "x"]), "ring-pt").save(out)
    code, _, said = run(capsys, "design", "--lenient", subscriptions, out)
    assert code == 2 and "--overwrite" in said
    assert tl.Overlay.load(out).n_links == 1
    assert run(capsys, "design", "--lenient", subscriptions, out, "--overwrite")[0] == 0
    assert tl.Overlay.load(out).n_links == 3


def test_generate_is_the_same_in_memory_and_on_spark(shared_session, tmp_path, capsys):
    law = ("--sizes", "power-law", "--min-size", 3, "--max-size", 8, "--size-exponent", 1.5, "--size-shift", 2)
    options = ("--nodes", 50, "--topics", 9, "--popularity", "exponential", "--rate", 18, *law, "--seed", 2)
    assert run(capsys, "generate", tmp_path / "memory", *options)[0] == 0
    assert run(capsys, "generate", tmp_path / "spark", *options, "--master", "local[2]")[0] == 0
    import pyarrow.parquet as pq

    tables = [pq.read_table(tmp_path / name).to_pandas() for name in ("memory", "spark")]
    assert sorted(tables[0].itertuples(index=False)) == sorted(tables[1].itertuples(index=False))
    law = {"sizes": "power-law", "min_size": 3, "max_size": 8, "size_exponent": 1.5, "size_shift": 2}
    drawn = tl.generate(50, 9, popularity="exponential", rate=18, **law, seed=2)
    wants = {(drawn.node_label(v), drawn.topic_label(t)) for v in range(50) for t in drawn.topics_of(v)}
    assert set(tables[0].itertuples(index=False, name=None)) == wants


def test_hostile_labels_do_not_reach_the_terminal(shared_session, tmp_path, capsys):
    (tmp_path / "subs.csv").write_text("node,topic\n\x1b[31ma,x\u202e[bold]\nb,x\u202e[bold]\n")
    (tmp_path / "links.csv").write_text("src,dst\n")
    code, printed, _ = run(capsys, "verify", tmp_path / "subs.csv", tmp_path / "links.csv")
    assert code == 1
    assert "\x1b" not in printed and "\u202e" not in printed and "[bold]" in printed


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["design", "subs", "out", "--method", "best"], "there is no method 'best'; the methods are"),
        (["design", "subs", "out", "--rho", "2"], "gm has no option 'rho'"),
        (["design", "subs", "out", "--seed", "-1"], "seed is -1"),
        (["design", "subs", "out", "--master", "local", "--remote", "sc://h"], "exclude each other"),
        (["design", "subs", "out", "--remote", "http://h"], "sc://host:port"),
        (["design", "subs", "out", "--conf", "novalue"], "key=value"),
        (["design", "subs", "/dev/null/out"], "cannot write"),
        (["design", "s3a://store/subs", "out", "--engine", "memory"], "by Spark alone; --engine 'spark' reads it"),
        (["design"], "Missing argument 'subscriptions' (File, folder or pattern"),
        (
            ["design", "subs"],
            "Missing argument 'out' (Folder for the overlay directory); topicloom design --help shows",
        ),
        (
            ["verify", "subs", "links", "--master", "spark://127.0.0.1:9"],
            "no Spark master answers at spark://127.0.0.1:9",
        ),
        (["compare", "subs", "out", "--methods", "low-oda:rho=nan"], "rho is 'nan'; a number from 1 up"),
        (["verify", "subs", "links", "--k", "0"], "k is 0"),
        (["generate", "out", "--subscriptions", "200"], "100 topics"),
        (["generate", "out", "--popularity", "odd"], "uniform, zipf, exponential"),
        (["generate", "out", "--nodes", "many"], "valid integer"),
        (["desing"], "No such command"),
    ],
)
def test_bad_usage_gets_one_sentence_and_exit_code_2(argv, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, printed, said = run(capsys, *argv)
    assert (code, printed) == (2, "")
    assert sentence in said and len(said.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_arguments_the_help_is_printed_as_it_is_asked_for(capsys):
    assert run(capsys) == run(capsys, "--help")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError("cannot reserve 9 GiB"), "ran out of memory: cannot reserve 9 GiB"),
        (OSError(28, "No space left on device", "/data/out"), "No space left on device: /data/out"),
    ],
)
def test_a_full_machine_is_said_without_a_traceback(monkeypatch, capsys, error, sentence):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(app, "app_for", lambda _: fail)
    assert run(capsys, "methods") == (2, "", f"topicloom: {sentence}\n")


def test_a_file_name_that_is_no_text_is_read_or_refused_with_a_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    interest = tl.Interest.from_pairs(list("abc"), ["x"] * 3)
    tl.design(interest, "ring-pt").save("overlay")
    events, out = (os.fsdecode(name) for name in (b"events\xff.jsonl", b"out\xff"))
    Path(events).write_text('{"event": "leave", "node": "a"}\n')
    code, _, said = run(capsys, "churn", "overlay", events, "after")
    assert (code, said.splitlines()[-1]) == (0, "wrote after")
    code, _, said = run(capsys, "churn", "overlay", events, out)
    assert code == 2 and "out\\udcff" in said and "is not valid UTF-8" in said and len(said.splitlines()) == 1
    code, _, _ = run(capsys, "generate", out, "--nodes", "9", "--subscriptions", "2")
    assert code == 0 and list(Path(out).glob("*.parquet"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["after", events, out, "overlay"]


def test_an_error_that_cannot_say_why_is_a_sentence_too(monkeypatch, capsys):
    class MuteError(Exception):
        def __str__(self):
            raise ConnectionRefusedError

    def fail(*_, **__):
        raise MuteError

    monkeypatch.setattr(app, "app_for", lambda _: fail)
    code, _, said = run(capsys, "methods")
    assert code == 2 and "failed unexpectedly (MuteError): it could not say why (ConnectionRefusedError)" in said


@pytest.mark.parametrize("argv", [["--help"], ["design", "--help"], ["generate", "-h"], ["--version"], ["methods"]])
def test_help_is_help(argv, capsys):
    code, printed, said = run(capsys, *argv)
    assert code == 0 and printed and not said
    assert argv[0] == "--version" or argv == ["methods"] or "topicloom" in printed


def test_every_command_has_an_example(capsys):
    for command in app.app_for([]).registered_commands:
        assert f"topicloom {command.name}" in command.epilog


def test_methods_lists_what_there_is(capsys):
    listed = json.loads(run(capsys, "methods", "--json")[1])
    assert [spec["name"] for spec in listed] == list(tl.METHODS)


def test_no_java_is_said_with_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tl.TopicloomError, match="openjdk-17-jre-headless"), spark_session():
        pass
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(tl.TopicloomError, match=r"Java 17 or newer, and .* is Java 8"), spark_session():
        pass


def test_no_server_is_said_at_once():
    with (
        pytest.raises(tl.TopicloomError, match="no Spark Connect server answers"),
        spark_session(remote="sc://127.0.0.1:9"),
    ):
        pass


def test_an_unexpected_error_is_one_sentence_too(monkeypatch, capsys):
    def fail(*_, **__):
        raise RuntimeError("boom\nmore")

    monkeypatch.setattr(app, "app_for", lambda _: fail)
    code, _, said = run(capsys, "methods")
    assert code == 2 and said == "topicloom: failed unexpectedly (RuntimeError): boom; run again with -v to see more\n"


def test_an_interrupt_is_exit_code_130(monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app_for", lambda _: interrupt)
    assert run(capsys, "methods")[0] == 130


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (["design", "subs.csv", "dc"], "nothing half-written is left"),
        (["design", "subs.csv", "out", "--method", "gm"], "nothing half-written is left"),
        (["design", "subs.csv", "out", "--method", "best"], "nothing half-written is left"),
        *(
            (["design", "subs.csv", "out", f"--method={name}"], "finished work is kept; repeat the command to resume")
            for name in ("auto", "dc", "rounds-gm")
        ),
        (["design", "subs.csv", "out", "--method", "dc"], "finished work is kept; repeat the command to resume"),
        (["study", "all", "out"], "finished work is kept; repeat the command to resume"),
        (["verify", "subs.csv", "out", "--method", "dc"], "nothing half-written is left"),
    ],
)
def test_an_interrupted_command_says_what_is_kept(monkeypatch, capsys, argv, kept):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app_for", lambda _: interrupt)
    assert run(capsys, *argv) == (130, "", f"topicloom: interrupted; {kept}\n")


@pytest.mark.parametrize("command", ["design", "compare", "generate"])
def test_a_destination_is_asked_about_before_the_work_and_after_it(subscriptions, tmp_path, capsys, command):
    sources = [] if command == "generate" else ["--lenient", subscriptions, "--engine", "memory"]
    options = ["--methods", "ring-pt,hub"] if command == "compare" else []
    asked = []

    def listen(frame, event, _):
        if event == "call" and frame.f_code.co_name == "check_destination":
            asked.append(frame.f_locals["destination"])

    sys.setprofile(listen)
    try:
        code = run(capsys, command, *sources, tmp_path / "out", *options)[0]
    finally:
        sys.setprofile(None)
    assert code == 0 and asked == [tmp_path / "out"] * 2
