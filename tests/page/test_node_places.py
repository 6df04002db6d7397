"""Places of nodes are the same on every machine, apart from each other, and near those of their group."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import topicloom as tl
from topicloom.page.node_places import FORCE_LIMIT, layout

OVERLAYS = {
    "example": lambda: tl.design(tl.datasets.example()),
    "skewed": lambda: tl.design(tl.generate(nodes=120, topics=30, subscriptions=5, popularity="zipf", seed=1)),
    "pieces": lambda: tl.design(tl.generate(nodes=60, topics=60, subscriptions=1, seed=2)),
}
# Hashes of 16-bit places. They hold on every processor, and with the JIT off (below).
KNOWN = {"example": "3a4b55f2537bf10b", "skewed": "361fa80e3fdaed9b", "pieces": "7b16dfb03057ae3b"}


def places(name: str) -> np.ndarray:
    overlay = OVERLAYS[name]()
    return layout(overlay.interest.n_nodes, overlay.links, radius=4 + 1.7 * np.sqrt(overlay.degree()))


def digest(found: np.ndarray) -> str:
    span = max(float(np.ptp(found, axis=0).max()), 1e-9)
    grid = np.round((found - found.min(0)) / span * 65535).astype("<u2")
    return hashlib.sha256(grid.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", OVERLAYS)
def test_places_are_known(name: str) -> None:
    assert digest(places(name)) == KNOWN[name]


def test_places_do_not_depend_on_the_compiler_or_the_processor() -> None:
    code = (
        "import sys; sys.path[:0] = ['tests'];"
        "from page.test_node_places import OVERLAYS, digest, places; import json;"
        "print(json.dumps({name: digest(places(name)) for name in ('example', 'pieces')}))"
    )
    plain = {"NUMBA_DISABLE_JIT": "1", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3", "OPENBLAS_CORETYPE": "Nehalem"}
    shown = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **plain},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(shown.stdout) == {name: KNOWN[name] for name in ("example", "pieces")}


def test_no_two_nodes_stand_on_each_other() -> None:
    found = places("skewed")
    distance = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1))
    np.fill_diagonal(distance, np.inf)
    assert distance.min() > 0.2  # a link is one unit long


def test_nodes_of_a_group_stand_together() -> None:
    overlay = OVERLAYS["skewed"]()
    group = np.arange(overlay.interest.n_nodes) % 4

    def spread(found: np.ndarray) -> float:
        middles = np.array([found[group == g].mean(0) for g in range(4)])
        return float(np.hypot(*(found - middles[group]).T).mean())

    alone = layout(overlay.interest.n_nodes, overlay.links)
    assert spread(layout(overlay.interest.n_nodes, overlay.links, group=group)) < 0.8 * spread(alone)


def test_a_crowd_has_places_beside_its_hubs() -> None:
    n = FORCE_LIMIT + 500
    star = np.column_stack([np.zeros(n - 1, int), np.arange(1, n)])
    found = layout(n, star)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) > 0.95 * n


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_nodes_have_places(n: int) -> None:
    assert layout(n, np.empty((0, 2), int)).shape == (n, 2)
