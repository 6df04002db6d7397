"""Memory estimates are bounds of the measured peaks, and not far above them."""

import json
import os
import subprocess
import sys

import pytest

import topicloom as tl
from topicloom.methods.registry import Size

MOST = 5  # an estimate may be at most this many times the measured peak

PEAKS = """
import ctypes, json, os, sys
from pathlib import Path
import numpy as np, topicloom as tl

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

nodes, topics, size, method, *runs = json.loads(sys.argv[1])
if topics == 1:
    interest = tl.Interest.from_csr(np.arange(nodes + 1), np.zeros(nodes, np.int32), 1)
else:
    interest = tl.generate(nodes=nodes, topics=topics, subscriptions=size)
child = os.fork()  # compiles what is not compiled yet, for the cache on disk: compiling takes memory, too
if not child:
    tl.design(interest, method, **runs[0])
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
peaks = []
for options in runs:
    tl.design(tl.generate(nodes=80, topics=5, subscriptions=2), method, **options)  # compiled code is loaded
    ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back to the system, or a run seems to need less
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again at what the process has now
    before = status("VmRSS")
    tl.design(interest, method, **options)
    peaks.append(status("VmHWM") - before)
print(json.dumps([interest.n_subscriptions, peaks]))
"""


def peaks(nodes, topics, size, method, *runs):
    command = [sys.executable, "-W", "error", "-c", PEAKS, json.dumps([nodes, topics, size, method, *runs])]
    env = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}  # as malloc_trim does
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if "clear_refs" in done.stderr:
        pytest.skip("this system does not let a process reset its peak of memory")
    assert done.returncode == 0, done.stderr
    subscriptions, found = json.loads(done.stdout)
    return Size(nodes, topics, subscriptions), found


@pytest.mark.parametrize(
    ("nodes", "topics", "size", "method", "runs"),
    [
        (8000, 60, 20, "harary-pt", [{"k": 2}, {"k": 10}, {"k": 40}, {"k": 10, "sequence": "similarity"}]),
        (100_000, 1, 1, "harary-pt", [{"k": 3}, {"k": 20}]),
        (2000, 100, 10, "stacked-gm", [{"k": 2}, {"k": 4}, {"k": 8}]),
        (300_000, 1, 1, "gm", [{}]),
        (8000, 100, 10, "gm", [{}]),
    ],
)
def test_estimates_are_bounds_within_a_factor(nodes, topics, size, method, runs):
    at, measured = peaks(nodes, topics, size, method, *runs)
    for options, peak in zip(runs, measured, strict=True):
        estimate = tl.METHODS[method].bytes_needed(at, options)
        assert peak <= estimate <= MOST * peak, (options, peak, estimate)


@pytest.mark.parametrize("method", ["harary-pt", "stacked-gm"])
def test_estimates_grow_with_k_until_all_topics_are_cliques(method):
    size = Size(nodes=1000, topics=50, subscriptions=10_000)
    needed = [tl.METHODS[method].bytes_needed(size, {"k": k}) for k in (1, 2, 10, 100, 1000, 10_000)]
    assert needed == sorted(needed) and needed[0] < needed[1] and needed[-2] == needed[-1]
    default = {"harary-pt": 2, "stacked-gm": 3}[method]
    assert tl.METHODS[method].bytes_needed(size) == tl.METHODS[method].bytes_needed(size, {"k": default})


@pytest.mark.parametrize("method", list(tl.METHODS))
def test_every_method_estimates_from_its_defaults(method):
    assert tl.METHODS[method].bytes_needed(Size(100, 10, 500)) > 0
