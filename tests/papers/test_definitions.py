"""What of the engine's code counts for a stored value: all that runs, and nothing that a measurement cannot reach."""

import json
import os
import subprocess
import sys

import pytest

from topicloom_papers.cells import definitions
from topicloom_papers.cells.definitions import fingerprint

MEASURED = """
from weave.engine import grow, Way
def measured(cell):
    return grow(cell.nodes) + Way(2).length()
"""
ENGINE = """
from weave.lists import step as stepped
LIMIT = 3
def grow(nodes):
    return stepped(nodes, LIMIT)
class Way:
    def __init__(self, hops): self.hops = hops
    def length(self): return self.hops
    def unused(self): return 0
def shrink(nodes): return 0
@method("gm", cost="high")
def greedy(nodes): return nodes
"""
LISTS = """
def step(nodes, limit): return min(nodes, limit)
"""


@pytest.fixture
def stamp(tmp_path, monkeypatch):
    """The fingerprint of what is measured, when the modules of a package are as given."""

    def of(texts=(), **modules):
        folder = tmp_path / str(len(list(tmp_path.iterdir()))) / "weave"
        for name, text in {"measured": MEASURED, "engine": ENGINE, "lists": LISTS, **modules}.items():
            path = folder.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.setattr(definitions, "PACKAGES", folder.parent)
        monkeypatch.setattr(definitions, "ENGINE", ("weave",))
        for cached in (definitions._entered, definitions._parsed, definitions._definition, definitions._find):
            cached.cache_clear()
        fingerprint.cache_clear()
        return fingerprint("weave.measured", "measured", frozenset(texts))

    yield of
    monkeypatch.undo()
    for cached in (definitions._entered, definitions._parsed, definitions._definition, definitions._find, fingerprint):
        cached.cache_clear()


def test_moving_and_describing_changes_no_fingerprint(stamp):
    moved = ENGINE.replace("weave.lists", "weave.deep.lists").replace(
        "def grow(nodes):", 'def grow(nodes):\n    "Grow."'
    )
    assert stamp() == stamp(engine=moved, lists="", deep__lists=f"'''Lists.'''\nimport os  # once\n{LISTS}")


def test_merging_two_files_changes_no_fingerprint(stamp):
    merged = LISTS + ENGINE.replace("from weave.lists import step as stepped", "").replace("stepped(", "step(")
    apart = ENGINE.replace("step as stepped", "step").replace("stepped(", "step(")
    assert stamp(engine=apart) == stamp(engine=merged, lists="")


def test_what_is_added_and_not_reached_changes_no_fingerprint(stamp):
    more = f"{ENGINE}\ndef turn(): return step\nclass Other: pass\n"
    assert stamp() == stamp(engine=more.replace("def unused(self): return 0", "def unused(self): return 1"))


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("engine", "LIMIT = 3", "LIMIT = 4"),
        ("engine", "return self.hops", "return self.hops + 1"),
        ("engine", "self.hops = hops", "self.hops = -hops"),
        ("lists", "min(nodes", "max(nodes"),
        ("measured", "Way(2)", "Way(3)"),
    ],
)
def test_a_change_of_what_is_reached_is_another_fingerprint(stamp, module, old, new):
    texts = {"engine": ENGINE, "lists": LISTS, "measured": MEASURED}
    assert old in texts[module]
    assert stamp() != stamp(**{module: texts[module].replace(old, new)})


def test_the_name_of_a_method_reaches_the_function_that_it_enters(stamp):
    other = ENGINE.replace("return nodes\n", "return nodes + 1\n")
    assert other != ENGINE
    assert stamp() == stamp(engine=other)
    assert stamp(["gm"]) != stamp(["gm"], engine=other)
    named = MEASURED.replace("cell.nodes)", 'cell.nodes, "gm")')
    assert stamp(measured=named) != stamp(measured=named, engine=other)


# Runs every kind of cell of all studies on a tiny interest, kernels as plain Python, and prints what ran of the engine.
TRACED = """
import json, sys
from topicloom_papers.cells import definitions
from topicloom_papers.cells.cells import Cell
from topicloom_papers.measurements import MEASUREMENTS
from topicloom_papers.studies import STUDIES
from topicloom_papers.cells.studies import Scale

TINY = {"nodes": 24, "topics": 6, "subscriptions": 2}
kinds = {}
for study in STUDIES.values():
    for cell in study.grid(Scale("quick", seeds=1)):
        options = tuple(sorted((k, v) for k, v in cell.options.items() if isinstance(v, str)))
        kinds.setdefault((cell.measurement, cell.method, options, "case" in cell.workload), cell)
for (measurement, method, _, _), cell in kinds.items():
    options = {**cell.options, **({"rounds": 4, "every": 2} if "rounds" in cell.options else {})}
    options |= {"partitions": 2} if "partitions" in options else {}
    ran = set()
    def note(frame, event, arg):
        if event == "call" and definitions.is_engine(frame.f_globals.get("__name__", "")):
            name, _, method = frame.f_code.co_qualname.split(".<")[0].partition(".")
            if not name.startswith(("<", "__")):  # lambdas of a module, and what dataclasses write
                called = name if method.startswith("__") or not method else f"{name}.{method}"
                ran.add((frame.f_globals["__name__"], called))
    sys.setprofile(note)
    try:
        list(MEASUREMENTS[measurement].function(Cell(measurement, method, TINY, options)))
    except Exception as error:
        sys.setprofile(None)
        print(f"{measurement} {method} {options}: {error}", file=sys.stderr)
    sys.setprofile(None)
    function = MEASUREMENTS[measurement].function
    texts = definitions.texts_that_enter((method, *options.values()))
    seen = {tuple(place) for place in definitions.reachable(function.__module__, function.__name__, texts)}
    print(json.dumps([measurement, method, len(ran), len(seen), sorted(ran - seen)]))
"""


def test_all_that_runs_of_the_engine_counts():
    done = subprocess.run(
        [sys.executable, "-c", TRACED],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    print(done.stdout, done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) > 40
    assert [line for line in lines if line[4]] == []
