"""Running measurements: each in its own process, sides of a ratio taken in turns, compiled code apart.

The parent imports nothing heavy: a process's peak memory counts that of the one it was started from.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.instances import TINY, Instance

ROOT = Path(__file__).parents[1]
# Children per measurement, unless it has taken this many seconds of CPU time; repetitions in each child.
MOST_ROUNDS = 3
ENOUGH = 20.0
REPETITIONS = 3


@dataclass
class Measurement:
    """What the children said of one method on one instance: the best of all repetitions."""

    method: str
    instance: str
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: int = 0
    facts: dict = field(default_factory=dict)

    @property
    def seconds(self):
        """CPU seconds of the best repetition."""
        return min(self.cpu)

    def to_dict(self):
        """JSON-ready."""
        return {
            "method": self.method,
            "instance": self.instance,
            "cpu_seconds": round(min(self.cpu), 4),
            "wall_seconds": round(min(self.wall), 4),
            "repetitions": len(self.cpu),
            "peak_mb": round(self.peak / 1e6, 1),
            **self.facts,
        }


class Runner:
    """Measures methods on instances, each combination once per run.

    Compiled code lives in a cache folder of this run, so that nothing stale is timed and compiling can be.
    """

    def __init__(self, folder: Path, say):
        self.folder = folder
        self.say = say
        self.done: dict[tuple[str, str], Measurement] = {}
        self.loaded: dict[str, int] = {}
        self.first_call: dict[str, dict[str, float]] = {}

    def compile(self, methods):
        """CPU seconds of the first call of each method in a process: compiling, and then reading the cache."""
        for method in methods:
            self.say(f"compiling {method}")
            path = self._stored(TINY)
            compiling = self._child(method, path, 0)["first_call"]
            self.first_call[method] = {"compiling": compiling, "cached": self._child(method, path, 0)["first_call"]}

    def measure(self, instance: Instance, *methods: str) -> list[Measurement]:
        """Measure methods on an instance in turns, those not measured yet."""
        path = self._stored(instance)
        wanted = [m for m in methods if (m, instance.name) not in self.done]
        if instance.name not in self.loaded:
            self.loaded[instance.name] = self._child("load", path, 0)["peak"]
        for method in wanted:
            self.done[method, instance.name] = Measurement(method, instance.name)
        for _ in range(MOST_ROUNDS):
            for method in wanted:
                measurement = self.done[method, instance.name]
                if sum(measurement.cpu) < ENOUGH:
                    self._once(measurement, path)
        return [self.done[m, instance.name] for m in methods]

    def _once(self, measurement, path):
        result = self._child(measurement.method, path, REPETITIONS)
        measurement.wall += result["wall"]
        measurement.cpu += result["cpu"]
        measurement.peak = max(measurement.peak, result["peak"] - self.loaded[measurement.instance])
        measurement.facts = {key: result[key] for key in ("links", "average_degree", "max_degree")}
        self.say(
            f"{measurement.instance}: {measurement.method} {result['cpu'][0]:.2f} s CPU, {result['wall'][0]:.2f} s"
        )

    def _stored(self, instance):
        path = self.folder / f"{instance.name}.npz"
        if not path.exists():
            self._child("store", path, 0)
        return path

    def _child(self, task, path, repetitions):
        """What a child process printed. Its kernels are cached in this run's folder."""
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(self.folder / "compiled"),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }
        command = [sys.executable, "-m", "benchmarks.child", task, str(path), str(repetitions)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, check=False)
        if run.returncode:
            raise RuntimeError(f"{' '.join(command[2:])} failed:\n{run.stderr}")
        return json.loads(run.stdout.splitlines()[-1]) if run.stdout.strip() else {}


def in_temporary_folder(work, say):
    """Call ``work(runner)`` with a runner whose folder is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="topicloom-bench-") as folder:
        return work(Runner(Path(folder), say))
