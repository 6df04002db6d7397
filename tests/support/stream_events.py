"""What tests of the stream share: files of events, and a check of what a stream has written."""

import json
import os
import random
from pathlib import Path

import pyarrow.parquet as pq

import topicloom as tl
from support.churn_checks import model_of
from topicloom.churn import read_state

BAD = ['{"event": "lea', '["leave"]', '{"event": "dance", "node": "n01"}', '{"event": "leave", "node": "nobody"}',
       '{"event": "join", "node": "z", "topics": [" "]}', '"\\ud800"', "[" * 50_000]  # fmt: skip


def base(folder: Path) -> tl.Overlay:
    overlay = tl.low_oda(tl.generate(nodes=60, topics=15, subscriptions=5, seed=1))
    overlay.save(folder / "overlay")
    return overlay


def random_events(overlay: tl.Overlay, files: int, per_file: int, seed: int = 0) -> list[list[dict]]:
    """Lists of events that can all be applied one after the other."""
    draw = random.Random(seed)
    model = model_of(overlay.interest)
    topics = sorted(set().union(*model.values()))
    made = []
    for file in range(files):
        events = []
        for number in range(per_file):
            kind = draw.choice(["join", "join", "leave", "subscribe", "unsubscribe"])
            node = draw.choice(sorted(model))
            wanted: list[str] = []
            if kind == "join":
                node, wanted = f"x{file}-{number}", draw.sample(topics, 4)
                model[node] = set(wanted)
            elif kind == "leave":
                del model[node]
            elif kind == "subscribe":
                wanted = draw.sample(sorted(set(topics) - model[node]), 1)
                model[node] |= set(wanted)
            else:
                wanted = sorted(model[node])[:1]
                if not wanted:
                    kind, wanted = "subscribe", [topics[0]]
                    model[node] |= set(wanted)
                else:
                    model[node] -= set(wanted)
            events.append({"event": kind, "node": node, "topics": wanted, "id": file * per_file + number})
        made.append(events)
    return made


def put_file(folder: Path, number: int, events: list[dict], more: list[str] = ()) -> None:
    """A file of events that appears whole, later than those of lower numbers."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps(event) for event in events] + list(more)
    partial = folder / f".{number:03}.jsonl"
    partial.write_text("".join(line + "\n" for line in lines))
    os.utime(partial, (1_700_000_000 + number, 1_700_000_000 + number))
    partial.rename(folder / f"{number:03}.jsonl")


def check_output(
    out: Path, overlay: tl.Overlay, batches: list[list[dict]], plan: tl.Plan | None = None, **options
) -> None:
    """What a stream has written is what one maintainer makes of the same batches, without a stream."""
    m = tl.Maintainer(overlay.interest, overlay, **options)
    if plan is not None:
        m.follow_routes(plan)
    links = {(row.src, row.dst) for row in overlay.to_pandas().itertuples()}
    names = sorted(path.name for path in (out / "changes").iterdir())
    assert names == sorted(f"batch-{n:012}.{kind}" for n in range(len(batches)) for kind in ("jsonl", "parquet"))
    for number, events in enumerate(batches):
        change = m.apply(events, strict=False)
        (told,) = map(json.loads, (out / "changes" / f"batch-{number:012}.jsonl").read_text().splitlines())
        assert told["batch"] == number and len(told["events"]) == change.events
        assert [tuple(link) for link in told["added"]] == list(change.added)
        assert [tuple(link) for link in told["removed"]] == list(change.removed)
        assert told.get("rows") == change.to_dict()["rows"]
        for row in pq.read_table(out / "changes" / f"batch-{number:012}.parquet").to_pylist():
            assert ((row["src"], row["dst"]) in links) == (row["action"] == "remove")
            links ^= {(row["src"], row["dst"])}
    kept = read_state(out / "state.db")
    assert kept.overlay.links.tolist() == m.overlay.links.tolist()
    assert kept.facts["events"] == m.events_applied
    assert (kept.plan and kept.plan.generation) == (m.plan and m.plan.generation)
    assert model_of(kept.interest) == model_of(m.interest)
    assert tl.verify(kept.interest, kept.overlay.links, options.get("k", 1)).ok
    assert links == {(row.src, row.dst) for row in kept.overlay.to_pandas().itertuples()}
