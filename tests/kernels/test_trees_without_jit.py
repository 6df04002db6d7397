"""The kernels of routes are plain Python as well: the same answers with the compiler off."""

import os
import subprocess
import sys

PROGRAM = """
import numpy as np
import topicloom as tl
interest = tl.Interest.from_pairs(list("abcdeabcde"), ["x"] * 5 + ["y"] * 5)
ring = tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (0, 2)])
routes = tl.routes(ring, standby=1)
assert routes.verify().ok and routes.diameter("x") == 3, routes.diameters
assert len(routes.failover("a").cut) == 0
shared = tl.routes(ring, forests=True)
assert shared.verify().ok and shared.n_forests == 1
fewer = tl.Overlay(interest, [(0, 1), (1, 2), (2, 3), (3, 4)])
kept = tl.routes(fewer, keep=routes)
assert kept.verify().ok and kept.diameter("x") == 4
path = {(0, 1), (1, 2), (2, 3), (3, 4)}
rows = zip(routes.src.tolist(), routes.dst.tolist(), routes.active)
assert tl.diff(tl.Plan(routes), tl.Plan(kept)).kept == sum(active and (u, v) in path for u, v, active in rows)
"""


def test_routes_run_with_the_jit_off() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], env=environment, check=True)
