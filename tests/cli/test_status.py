"""``topicloom status`` of overlay directories and durable states, without Spark."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.methods.selection import method_for


def status(capsys, *arguments):
    assert main(["status", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_plain_overlay_directory_has_no_history(tmp_path, capsys):
    interest = tl.generate(nodes=40, topics=8, subscriptions=3, seed=1)
    overlay = tl.ring_per_topic(interest)
    overlay.save(tmp_path / "overlay")
    facts = status(capsys, tmp_path / "overlay")
    assert (facts["nodes"], facts["topics"], facts["links"], facts["events"]) == (40, 8, overlay.n_links, 0)
    assert facts["since"] is None and facts["last_event"] is None
    assert facts["fresh"]["method"] == "ring-pt" and facts["fresh"]["average_degree_ratio"] == 1.0
    tl.Overlay(interest, overlay.links).save(tmp_path / "given")
    facts, fresh = status(capsys, tmp_path / "given"), tl.low_oda(interest)
    assert facts["fresh"]["method"] == "low-oda" and facts["fresh"]["max_degree"] == fresh.degree().max()
    assert facts["fresh"]["average_degree_ratio"] == pytest.approx(overlay.n_links / fresh.n_links)
    assert status(capsys, tmp_path / "overlay", "--k", "2")["fresh"]["method"] == method_for(2)
    assert "fresh" not in status(capsys, tmp_path / "overlay", "--no-drift")


def test_a_broken_overlay_is_not_said_to_be_connected(tmp_path, capsys):
    interest = tl.generate(nodes=40, topics=8, subscriptions=3, seed=1)
    tl.Overlay(interest, tl.gm2(interest).links[:5], "gm2").save(tmp_path / "broken")
    assert main(["status", str(tmp_path / "broken")]) == 1
    assert "NOT 2-topic-connected: " in capsys.readouterr().out


@pytest.mark.parametrize(("k", "method"), [(1, "low-oda"), (2, "gm2"), (3, "harary-pt")])
def test_a_state_tells_its_life_while_it_is_open(tmp_path, capsys, k, method):
    interest = tl.generate(nodes=40, topics=8, subscriptions=3, seed=1)
    overlay = tl.design(interest, method, **({"k": 3} if k == 3 else {}))
    (tmp_path / "out").mkdir()
    with tl.Maintainer.open(tmp_path / "out" / "state.db", interest=interest, overlay=overlay, k=k) as m:
        assert status(capsys, tmp_path / "out")["last_event"] is None
        m.leave("n01")
        m.join("\x1b[31mred", ["t1"])
        facts = status(capsys, tmp_path / "out")
        assert (facts["nodes"], facts["events"], facts["k"], facts["links"]) == (40, 2, k, m.overlay.n_links)
        assert facts["since"] <= facts["last_event"]
        assert facts["fresh"]["method"] == method
        assert facts["options"]["policy"] == "shadow"
    assert status(capsys, tmp_path / "out" / "state.db") == facts
    assert main(["status", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "events applied" in said and f"fresh {method}, max degree" in said


def test_everybody_gone(tmp_path, capsys):
    interest = tl.Interest.from_pairs(["a", "b"], ["x", "x"])
    with tl.Maintainer.open(tmp_path / "s.db", interest=interest, overlay=tl.low_oda(interest)) as m:
        m.leave("a")
        m.leave("b")
    facts = status(capsys, tmp_path / "s.db")
    assert (facts["nodes"], facts["links"], facts["average_degree"]) == (0, 0, 0.0)


def test_what_is_no_overlay_is_refused(tmp_path, capsys):
    (tmp_path / "junk.db").write_bytes(b"junk " * 1000)
    (tmp_path / "empty").mkdir()
    for wrong in ("none", "junk.db", "empty"):
        assert main(["status", str(tmp_path / wrong)]) == 2
        said = capsys.readouterr().err
        assert "Traceback" not in said and said.count("\n") == 1
