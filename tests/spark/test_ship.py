"""The zip for the workers, in a Python that does not have the package."""

import subprocess
import sys

import pytest

from topicloom.spark.session.ship import package_zip

PROGRAM = """
import sys
from pathlib import Path
sys.path = [place for place in sys.path if not Path(place, "topicloom", "__init__.py").exists()]
sys.path.insert(1, sys.argv[1])
from topicloom.kernels.draw.ranks import shuffled_ranks
import numpy as np
import topicloom
assert sorted(shuffled_ranks(np.arange(4), 4, 0)) == [0, 1, 2, 3]
print(topicloom.__file__)
"""


@pytest.mark.parametrize("writable", [True, False])
def test_kernels_run_from_the_zip(tmp_path, writable):
    packed = package_zip(tmp_path)
    cache = tmp_path / "cache" if writable else "/proc/nowhere"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(packed)],
        env={"XDG_CACHE_HOME": str(cache), "HOME": "/proc/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    place = tmp_path / "cache" / "topicloom" / packed.stem if writable else packed
    assert done.stdout.strip() == str(place / "package" / "topicloom" / "__init__.py")
    assert bool(list(tmp_path.glob("cache/**/*.nbi"))) == writable


def test_the_same_code_is_the_same_zip(tmp_path):
    (tmp_path / "other").mkdir()
    one, other = package_zip(tmp_path), package_zip(tmp_path / "other")
    assert one.name == other.name and one.read_bytes() == other.read_bytes()
