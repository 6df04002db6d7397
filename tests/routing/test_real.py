"""Routes of real interests have the shapes that were measured on real brokers."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

import topicloom as tl


def designed(path: Path) -> tl.Overlay:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = list(csv.DictReader(content.decode().splitlines()))
    interest = tl.Interest.from_pairs([row["node"] for row in rows], [row["topic"] for row in rows])
    return tl.design(interest, "gm")


@pytest.mark.parametrize(
    ("name", "rows", "mean", "longest", "forests"),
    [("ros2_autoware.csv", 180, 1.486, 8, 3), ("mastodon_instances.csv.gz", 6482, 2.124, 8, 33)],
)
def test_trees_and_forests_are_as_small_as_in_the_trial(dataset, name, rows, mean, longest, forests):
    overlay = designed(dataset(name))
    routes, shared = tl.routes(overlay), tl.routes(overlay, forests=True)
    several = np.diff(overlay.interest.topic_indptr) > 1
    assert routes.n_rows == shared.n_rows == rows
    assert routes.exact.all()
    assert routes.diameters[several].mean() == pytest.approx(mean, abs=0.001)
    assert routes.diameters.max() == longest
    assert shared.n_forests <= forests
    assert routes.verify().ok
    assert shared.verify().ok


def test_new_brokers_come_and_go_with_few_rows(dataset):
    overlay = designed(dataset("mastodon_instances.csv.gz"))
    m = tl.Maintainer(overlay.interest, overlay)
    follower = tl.RouteFollower(m)
    random = np.random.default_rng(0)
    topics = overlay.interest.topic_labels
    changed: dict[str, list[int]] = {"join": [], "subscribe": [], "unsubscribe": [], "leave": []}
    for number in range(8):
        name, wanted = f"new{number}", topics[random.choice(len(topics), 11, replace=False)].tolist()
        for kind, given in (
            ("join", wanted[:10]),
            ("subscribe", wanted[10:]),
            ("unsubscribe", wanted[:1]),
            ("leave", []),
        ):
            m.apply([tl.Event(kind, name, tuple(given))])
            removed, added = follower.update()
            changed[kind].append(len(removed) + len(added))
    means = {kind: np.mean(counts) for kind, counts in changed.items()}
    assert means["subscribe"] <= 1
    assert means["join"] <= 12
    assert means["leave"] <= 15
    assert means["unsubscribe"] <= 10
    assert follower.routes.verify().ok
