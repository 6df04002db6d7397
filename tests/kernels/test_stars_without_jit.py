"""The kernels of the diameter-2 family and of the references: the same links with the compiler off."""

import os
import subprocess
import sys

METHODS = ("cd-oda", "cd-oda-1", "cd-oda-2", "2d-oda", "full-mesh", "spanning-tree", "random-regular")
PROGRAM = f"""
import topicloom as tl
interest = tl.generate(nodes=30, topics=8, subscriptions=3, seed=4)
print([tl.design(interest, method, seed=1).links.tolist() for method in {METHODS}])
"""


def links(**environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_the_same_links_with_the_jit_off() -> None:
    assert links(NUMBA_DISABLE_JIT="1") == links()
