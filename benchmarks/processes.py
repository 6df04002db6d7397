"""Run a command and see how long it takes and how much memory it and all its descendants hold."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]
_SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class Outcome:
    """What a command said, how long it took, and the most memory that its processes held at one moment (bytes).

    ``peak_pss`` counts a page that several processes share once; ``peak_rss`` counts it for each.
    """

    stdout: str
    seconds: float
    peak_pss: int
    peak_rss: int


def run(module: str, arguments: Sequence[str], source: Path | None = None) -> Outcome:
    """Run a module in a process of its own, with the checkout's code or other ``source``; an error if it fails."""
    paths = [str(source or ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watcher = _Watcher(process.pid)
    watcher.start()
    stdout, stderr = process.communicate()
    seconds = time.perf_counter() - began
    watcher.stop()
    if process.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)} ended with {process.returncode}:\n{stderr}")
    return Outcome(stdout, seconds, watcher.peak_pss, watcher.peak_rss)


class _Watcher(threading.Thread):
    """Adds up the memory of a process and its descendants once a second: a look takes some 40 ms of a core."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_pss = self.peak_rss = 0
        self._pid = pid
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(_SECONDS_BETWEEN_LOOKS):
            pss = rss = 0
            for process in self._family():
                try:
                    held = process.memory_full_info()
                except psutil.Error:
                    continue  # it ended meanwhile
                pss, rss = pss + held.pss, rss + held.rss
            self.peak_pss, self.peak_rss = max(self.peak_pss, pss), max(self.peak_rss, rss)

    def stop(self) -> None:
        self._done.set()
        self.join()

    def _family(self) -> list[psutil.Process]:
        try:
            parent = psutil.Process(self._pid)
            return [parent, *parent.children(recursive=True)]
        except psutil.Error:
            return []
