"""``python -m faults [CASE…]`` in ``tests/``: the long form. Each module of cases registers its own."""

import sys

import faults.kernels
import faults.overlays
import faults.states
import faults.strangers  # noqa: F401
from faults.harness import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
