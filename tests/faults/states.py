"""Durable states: killed writers, damaged files, events that are interrupted, full disks, two writers at once."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import topicloom as tl
from churn_checks import check, model_of
from faults.harness import Tally, case, in_child, killed_child

TOPICS = [f"t{t:02}" for t in range(15)]
Tell = Callable[[bytes], Any]


def base() -> tl.Overlay:
    return tl.low_oda(tl.generate(nodes=60, topics=15, subscriptions=5, seed=1))


def events_for(model: dict[str, set[str]], draw: random.Random, name: str, count: int) -> list[dict[str, Any]]:
    """Events that can be applied one after the other; the model is changed with them."""
    made = []
    for number in range(count):
        kind = draw.choice(["join", "join", "leave", "subscribe", "unsubscribe"]) if len(model) > 5 else "join"
        node = draw.choice(sorted(model)) if kind != "join" else f"{name}-{number}"
        wanted = model.get(node, set())
        if kind == "join":
            topics = draw.sample(TOPICS, 4)
            model[node] = set(topics)
        elif kind == "leave" or not wanted or len(wanted) == len(TOPICS):
            kind, topics = "leave", []
            del model[node]
        elif kind == "subscribe":
            topics = [draw.choice(sorted(set(TOPICS) - wanted))]
            model[node] = wanted | set(topics)
        else:
            topics = [draw.choice(sorted(wanted))]
            model[node] = wanted - set(topics)
        made.append({"event": kind, "node": node, "topics": topics})
    return made


def picture(m: tl.Maintainer) -> tuple[Any, ...]:
    """All that decides what a maintainer does next, as far as can be seen from outside."""
    labels = m.interest.node_labels.tolist() if m.interest.node_labels is not None else []
    return (
        model_of(m.interest),
        m.overlay.links.tolist(),
        [(m.backups_of(label), m.primaries_of(label)) for label in labels],
        m.events_applied,
        m.options,
    )


def reopened(path: Path) -> tuple[Any, ...]:
    with tl.Maintainer.open(path) as m:
        check(m, model_of(m.interest))
        return picture(m)


def _write_on(tell: Tell, path: Path, events: list[dict[str, Any]], sync: str) -> None:
    with tl.Maintainer.open(path, sync=sync) as m:
        tell(b"open\n")
        for event in events:
            m.apply([event])
            tell(json.dumps(event["node"]).encode() + b"\n")


@case(short=12, long=300)
def kill_writers(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """SIGKILL at a random moment: all that was acknowledged is there, and one event more at most."""
    path, overlay = folder / "state.db", base()
    tl.Maintainer.open(path, interest=overlay.interest, overlay=overlay).close()
    twin = tl.Maintainer(overlay.interest, overlay)  # sees the same events, and is never killed
    for number in range(times):
        events = events_for(model_of(twin.interest), draw, f"x{number}", 200)
        sync = draw.choice(["full", "normal"])
        told = killed_child(_write_on, path, events, sync, after=draw.random() * 0.06, wait_for=b"open\n")
        tally.kills += 1
        done = max(told.count(b"\n") - 1, 0)
        before = twin.events_applied
        for event in events[:done]:
            twin.apply([event])
        after = tally.judge(in_child(reopened, path), f"kill_writers {number}: reopening")
        if after is None:
            return
        if after[3] == before + done + 1:  # committed, and killed before it was acknowledged
            twin.apply([events[done]])
        if after != picture(twin):
            tally.lost.append(f"kill_writers {number}: {after[3] - before} events of {done} acknowledged ones")
            return
