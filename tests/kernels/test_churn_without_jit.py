"""The kernels of churn are plain Python as well: the same repairs with the compiler off."""

import os
import subprocess
import sys

PROGRAM = """
import topicloom as tl
interest = tl.generate(nodes=14, topics=5, subscriptions=2, seed=3)
for backups in ("primal-dual", "greedy"):
    m = tl.Maintainer(interest, tl.ring_per_topic(interest), backups=backups, coverage=2)
    changes = [m.leave(interest.node_label(3)), m.join("x", interest.topic_labels.tolist()), m.leave("x")]
    print([(change.added, change.removed) for change in changes])
    print([m.backups_of(label) for label in m.interest.node_labels.tolist()])
"""


def test_churn_is_the_same_with_the_jit_off() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for off in ("0", "1")
    ]
    assert found[0] == found[1]
    assert len(found[0].splitlines()) == 4
