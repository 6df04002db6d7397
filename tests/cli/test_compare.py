"""``topicloom compare`` from a file to the table, the picture and the results."""

import json
import re
from functools import partial

import pytest
from pyarrow import parquet

from topicloom.cli.app import main
from topicloom.cli.commands import compare
from topicloom.errors import NotEnoughMemoryError
from topicloom.methods.registry import Size
from topicloom.runs import memory_limits
from topicloom.spark.session.session import cores_of


@pytest.fixture
def subscriptions(tmp_path):
    path = tmp_path / "subscriptions.csv"
    path.write_text("node,topic\na,x\na,y\nb,x\nb,y\nc,x\nc,z\nd,x\nd,z\n")
    return path


def test_table_picture_and_results(shared_session, subscriptions, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["compare", str(subscriptions), str(out), "--methods", "gm,2d-oda,hub"]) == 0
    printed = capsys.readouterr()
    assert "gm *" in printed.out and "hub" in printed.out and "topics relayed" in printed.out
    assert "Pareto-best" in printed.err
    assert sorted(path.name for path in out.iterdir()) == [
        "comparison.png",
        "comparison.svg",
        "results.json",
        "results.parquet",
        "run.json",
    ]
    assert (out / "comparison.png").read_bytes().startswith(b"\x89PNG")
    results = json.loads((out / "results.json").read_text())
    assert [one["name"] for one in results["results"]] == ["gm", "2d-oda", "hub"]
    assert results["counts"]["nodes"] == 4
    assert parquet.read_table(out / "results.parquet")["links"].to_pylist() == [3, 4, 3]


def test_what_you_have_stands_beside_what_you_could_have(shared_session, subscriptions, tmp_path, capsys):
    today = tmp_path / "today.csv"
    today.write_text("src;dst\na;b\nb;a\nc;d\na;core\nc;core\nd;b\nd;d\nd;a\n;b\n")
    argv = [
        "compare",
        str(subscriptions),
        str(tmp_path / "out"),
        "--methods",
        "gm",
        "--links",
        str(today),
        "--overwrite",
    ]
    assert main([*argv, "--lenient"]) == 0
    printed = capsys.readouterr()
    row = next(line for line in printed.out.splitlines() if line.startswith("what you have *"))
    assert row.split()[4:7] == ["6", "2.40", "3"] and row.split()[-2:] == ["no", "–"]
    assert "finding: 'core' is a transit node" in printed.err and "src is empty" in printed.err
    said = "you have 6 links, 2 of which serve no topic; gm connects every topic with 3 (50% fewer)"
    assert said in printed.err, printed.err
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [one["name"] for one in results["results"]] == ["what you have", "gm"]
    assert results["link_findings"]["loops"] == ["d"]
    today.write_text("src,dst\na,core\n")
    assert main([*argv, "--json"]) == 0
    have = json.loads(capsys.readouterr().out)["results"][0]
    assert (have["links"], have["broken_topics"], have["unwanted_relays"]) == (1, 3, None)


def test_a_star_whose_hub_bridges_everything_is_relayed_and_not_broken(tmp_path, capsys):
    wanted = {"p": "abc", "q": "ab", "r": "hc", "s": "de"}
    rows = [f"{node},{topic}" for topic, nodes in wanted.items() for node in nodes]
    (tmp_path / "subs.csv").write_text("\n".join(["node,topic", *rows]) + "\n")
    (tmp_path / "star.csv").write_text("src,dst\nh,a\nh,b\nh,c\nh,d\nh,e\n")
    argv = ["compare", str(tmp_path / "subs.csv"), str(tmp_path / "out"), "--methods", "gm", "--engine", "memory"]
    argv += ["--links", str(tmp_path / "star.csv"), "--overwrite"]
    assert main(argv) == 0
    printed = capsys.readouterr()
    assert "you have 5 links, 4 of which serve no topic, over which 3 topics pass 1 node" in printed.err
    assert "∞" not in printed.out and "pieces" not in printed.err
    star = json.loads((tmp_path / "out" / "results.json").read_text())["results"][0]
    assert (star["broken_topics"], star["relayed_topics"], star["relaying_nodes"]) == (0, 3, 1)
    assert (star["mean_hops"], star["max_topic_diameter"], star["unwanted_relays"]) == (None, None, 3)
    assert (star["hops_with_relays"], star["max_diameter_with_relays"]) == (pytest.approx(22 / 12), 2)
    assert not star["pareto_best"]
    (tmp_path / "star.csv").write_text("src,dst\nh,a\nh,b\nh,c\nh,d\n")
    assert main([*argv, "--json"]) == 0
    star = json.loads(capsys.readouterr().out)["results"][0]
    assert (star["broken_topics"], star["relayed_topics"], star["hops_with_relays"]) == (1, 2, None)


def test_measure_tells_broken_from_relayed(tmp_path, capsys):
    (tmp_path / "subs.csv").write_text("node,topic\na,p\nb,p\nh,r\nc,q\nd,q\n")
    (tmp_path / "star.csv").write_text("src,dst\nh,a\nh,b\nh,c\n")
    argv = ["measure", str(tmp_path / "subs.csv"), str(tmp_path / "star.csv"), "--engine", "memory"]
    assert main(argv) == 0
    printed = capsys.readouterr()
    assert "1 topic broken" in printed.err and "1 topic relayed: 1 node that did not ask" in printed.err
    assert re.search(r"^topics broken +1$", printed.out, re.M) and re.search(r"^topics relayed +1$", printed.out, re.M)


@pytest.mark.parametrize(
    ("methods", "complaint"),
    [("", "names no method"), ("gm,best", "no method 'best'"), ("gm,hub,gm", "names gm twice")],
)
def test_bad_methods_are_refused_before_spark_starts(subscriptions, tmp_path, capsys, methods, complaint):
    assert main(["compare", str(subscriptions), str(tmp_path / "out"), "--methods", methods]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_existing_folder_is_kept(subscriptions, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    assert main(["compare", str(subscriptions), str(tmp_path / "out")]) == 2
    assert "exists" in capsys.readouterr().err


def test_methods_that_do_not_fit_side_by_side_run_one_by_one(monkeypatch):
    monkeypatch.setattr(memory_limits, "check_memory", lambda *_, **__: 600)
    fits = partial(memory_limits.check_side_by_side, Size(1, 1, 1), choices=compare._choices("gm,hub"), available=1000)
    with pytest.raises(NotEnoughMemoryError, match=r"one by one with master='local\[1\]'"):
        fits(cores=cores_of("local[2]", None))
    fits(cores=cores_of("local[1]", None))


def test_every_engine_compares_alike(shared_session, subscriptions, tmp_path, capsys):
    (tmp_path / "today.csv").write_text("src,dst\na,b\nc,d\nd,e\n")
    found = {}
    for engine in ("memory", "spark", "distributed"):
        given = ["compare", str(subscriptions), str(tmp_path / engine), "--links", str(tmp_path / "today.csv")]
        assert main([*given, "--methods", "gm,hub,full-mesh", "--json", "--engine", engine]) == 0
        answer = json.loads(capsys.readouterr().out)
        found[engine] = [{**one, "seconds": None} for one in answer["results"]], answer["link_findings"]
        run = json.loads((tmp_path / engine / "run.json").read_text())
        found[engine] += run["counts"], run["input_fingerprint"]
    assert found["memory"] == found["spark"]
    assert found["memory"] == found["distributed"]
