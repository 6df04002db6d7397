"""``topicloom churn`` on overlays that were saved without Spark."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom as tl
from support.route_twins import row_names
from topicloom.cli.app import main
from topicloom.files.write.run_file import update_run

EVENTS = [
    {"event": "leave", "node": "n01", "id": 2, "at": 10},
    {"event": "join", "node": "x", "topics": ["t1", "t2"], "id": 1, "at": 10},
    {"event": "subscribe", "node": "x", "topics": ["t3"], "at": 11},
    {"event": "leave", "node": "nobody", "at": 12},
    {"event": "dance", "node": "n02", "at": 13},
    {"event": "join", "node": "y", "topics": ["t1", " "], "at": 14},
]


@pytest.fixture
def overlay(tmp_path):
    tl.low_oda(tl.generate(nodes=40, topics=8, subscriptions=3, seed=1)).save(tmp_path / "overlay")
    return str(tmp_path / "overlay")


def lines_of(path, events, more=""):
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + more)
    return str(path)


def test_events_are_applied_and_bad_ones_set_apart(overlay, tmp_path, capsys):
    events = lines_of(tmp_path / "events.jsonl", EVENTS, '{"event": "lea\n')
    assert main(["churn", overlay, events, str(tmp_path / "out"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["events"], facts["rejected"], facts["nodes"]) == (3, 4, 40)
    before, after = tl.Overlay.load(overlay), tl.Overlay.load(tmp_path / "out")
    assert tl.verify(after.interest, after.links).ok
    told = [json.loads(line) for line in (tmp_path / "out" / "changes.jsonl").read_text().splitlines()]
    assert [part["events"][0]["event"] for part in told] == ["join", "leave", "subscribe"]
    links = {(row.src, row.dst) for row in before.to_pandas().itertuples()}
    for row in pq.read_table(tmp_path / "out" / "changes").to_pylist():
        links.symmetric_difference_update({(row["src"], row["dst"])})
    assert links == {(row.src, row.dst) for row in after.to_pandas().itertuples()}
    reasons = pq.read_table(tmp_path / "out" / "rejected")["reason"].to_pylist()
    assert len(reasons) == 4
    for reason in ("is not JSON", "no node 'nobody'", "unknown kind", "a topic is blank"):
        assert any(reason in given for given in reasons)
    more = lines_of(tmp_path / "more.jsonl", [{"event": "leave", "node": "n02"}])
    assert main(["churn", str(tmp_path / "out"), more, str(tmp_path / "again")]) == 0
    capsys.readouterr()
    assert main(["status", str(tmp_path / "again"), "--json"]) == 0
    life = json.loads(capsys.readouterr().out)
    assert (life["events"], life["fresh"]["method"]) == (4, "low-oda")


def test_no_event_that_can_be_applied_is_a_failed_check(overlay, tmp_path, capsys):
    events = lines_of(tmp_path / "events.jsonl", EVENTS[3:])
    assert main(["churn", overlay, events, str(tmp_path / "out")]) == 1
    assert "no event could be applied: 3 events were rejected" in capsys.readouterr().err
    assert len(pq.read_table(tmp_path / "out" / "rejected")) == 3
    (tmp_path / "none.jsonl").write_text("")
    assert main(["churn", overlay, str(tmp_path / "none.jsonl"), str(tmp_path / "still")]) == 0


def test_the_connectivity_of_the_overlay_is_kept(tmp_path, capsys):
    interest = tl.generate(nodes=40, topics=8, subscriptions=3, seed=1)
    tl.gm2(interest).save(tmp_path / "safe")
    events = lines_of(tmp_path / "events.jsonl", [{"event": "leave", "node": f"n{v:02}"} for v in range(0, 20, 2)])
    given = [str(tmp_path / "safe"), events]
    assert main(["churn", *given, str(tmp_path / "after")]) == 0
    after = tl.Overlay.load(tmp_path / "after")
    assert after.options["k"] == 2 and tl.verify(after.interest, after.links, k=2).ok
    assert main(["churn", *given, str(tmp_path / "naive"), "--policy", "naive"]) == 2
    assert "naive does not maintain k = 2" in capsys.readouterr().err
    assert main(["churn", *given, str(tmp_path / "less"), "--k", "1"]) == 0
    assert "designed for k = 2; only k = 1 is maintained" in capsys.readouterr().err
    ring = tl.ring_per_topic(interest)
    ring.save(tmp_path / "ring")
    update_run(tmp_path / "ring", verified={"k": 2, "ok": True, "broken_topics": 0})
    assert main(["churn", str(tmp_path / "ring"), events, str(tmp_path / "ring after")]) == 0
    assert tl.Overlay.load(tmp_path / "ring after").options["k"] == 2


def test_parquet_events_in_one_batch_under_each_policy(overlay, tmp_path):
    rows = [{"event": "leave", "node": f"n{v:02}", "topics": None} for v in range(10)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "events.parquet")
    for policy in ("shadow", "naive", "rebuild"):
        out = tmp_path / policy
        assert (
            main(["churn", overlay, str(tmp_path / "events.parquet"), str(out), "--policy", policy, "--batch", "10"])
            == 0
        )
        after = tl.Overlay.load(out)
        assert after.interest.n_nodes == 30 and tl.verify(after.interest, after.links).ok
        assert len((out / "changes.jsonl").read_text().splitlines()) == 1


def test_bad_input_writes_nothing(overlay, tmp_path, capsys):
    tl.Plan(tl.routes(tl.ring_per_topic(tl.Overlay.load(overlay).interest))).save(tmp_path / "other")
    events = lines_of(tmp_path / "events.jsonl", EVENTS)
    for wrong in (
        [overlay, str(tmp_path / "none.jsonl"), str(tmp_path / "out")],
        [overlay, events, str(tmp_path / "out"), "--policy", "hope"],
        [overlay, events, str(tmp_path / "out"), "--k", "2"],
        [overlay, events, overlay],
        [overlay, events, str(tmp_path / "out"), "--plan", str(tmp_path / "other")],
    ):
        assert main(["churn", *wrong]) == 2
        assert "Traceback" not in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_trees_of_a_plan_follow_and_every_row_change_is_told(overlay, tmp_path, capsys):
    tl.Plan(tl.routes(tl.Overlay.load(overlay)), "mosquitto").save(tmp_path / "plan")
    events = lines_of(tmp_path / "events.jsonl", EVENTS)
    words = ["churn", overlay, events, str(tmp_path / "out"), "--plan", str(tmp_path / "plan"), "--json"]
    assert main(words) == 0
    facts = json.loads(capsys.readouterr().out)
    live = row_names(tl.Plan.load(tmp_path / "plan").routes)
    for line in (tmp_path / "out" / "changes.jsonl").read_text().splitlines():
        rows = json.loads(line)["rows"]
        off, on = ({tuple(row) for row in rows[what]} for what in ("off", "on"))
        assert off <= live and not on & live
        live = (live - off) | on
    after = tl.Plan.load(tmp_path / "out" / "plan")
    assert live == row_names(after.routes) and after.routes.verify().ok and after.target == "mosquitto"
    assert facts["rows_on"] > 0 and facts["rows_off"] > 0
    assert after.routes.links.tolist() == tl.Overlay.load(tmp_path / "out").links.tolist()
