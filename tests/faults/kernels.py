"""Ctrl-C while a program that uses the library loads or compiles kernels."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from faults.harness import PATIENCE, Tally, case

_PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
print("begun", flush=True)
import topicloom as tl
overlay = tl.design(tl.generate(nodes=60, topics=9, subscriptions=3), "{method}")
assert tl.verify(overlay.interest, overlay.links).ok and tl.measure(overlay.interest, overlay.links).links
"""
_ENDS = {0, 1, -signal.SIGINT, 128 + signal.SIGINT}


@case(short=4, long=120)
def interrupt_kernels(folder: Path, times: int, draw: random.Random, tally: Tally) -> None:
    """SIGINT at any moment of a first design: the program ends by itself or by KeyboardInterrupt, never by a crash."""
    for number in range(times):
        method = draw.choice(["gm", "ring-pt", "low-oda"])
        # every other time the cache is empty, and kernels are compiled instead of loaded
        environment = os.environ | ({} if number % 2 else {"NUMBA_CACHE_DIR": str(folder / str(number))})
        after = draw.random() * (3 if number % 2 else 12)
        command = [sys.executable, "-c", _PROGRAM.format(method=method)]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        ) as child:
            assert child.stdout is not None
            child.stdout.readline()
            moment = threading.Timer(after, child.send_signal, [signal.SIGINT])
            moment.start()
            try:
                code = child.wait(2 * PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                tally.hangs.append(f"{number}: Ctrl-C after {after:.3f} s of {method}")
                continue
            finally:
                moment.cancel()
        tally.interrupts += 1
        if code not in _ENDS:
            tally.signals.append(f"{number}: Ctrl-C after {after:.3f} s of {method}: exit code {code}")
