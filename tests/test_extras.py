"""The library runs without the packages of its extras, and what needs them says which extra to install."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

# Makes packages look as if they were not installed.
WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
EXTRAS = ("pyspark", "pandas", "typer", "rich", "matplotlib", "networkx", "yaml", "openpyxl")


def run_without(packages: tuple[str, ...], program: str) -> "subprocess.CompletedProcess[str]":
    code = WITHOUT.format(names=set(packages)) + program
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_library_needs_no_extra():
    done = run_without(
        EXTRAS,
        "import topicloom as tl; i = tl.Interest.from_pairs(list('abca'), list('ttuu')); o = tl.design(i, 'ring-pt')\n"
        "assert tl.verify(i, o.links).ok and tl.measure(i, o.links).links == 2",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("packages", "program", "sentence"),
    [
        (
            ("pyspark",),
            "import topicloom.pipeline",
            "the pipeline on Spark needs pyspark; in a clone: pip install '.[spark]'",
        ),
        (
            ("pyspark",),
            "import topicloom.stream",
            "churn as a stream needs pyspark; in a clone: pip install '.[spark]'",
        ),
        (
            ("typer",),
            "import topicloom.cli",
            "the command topicloom needs typer; in a clone: pip install '.[cli]'",
        ),
        (
            ("networkx",),
            "import topicloom as tl; i = tl.Interest.from_pairs(['a'], ['t']); tl.design(i, 'ring-pt').to_networkx()",
            "a networkx graph needs networkx; in a clone: pip install '.[networkx]'",
        ),
        (
            ("pandas",),
            "import topicloom as tl; i = tl.Interest.from_pairs(['a'], ['t']); tl.design(i, 'ring-pt').to_pandas()",
            "a pandas table needs pandas; in a clone: pip install '.[pandas]'",
        ),
    ],
)
def test_a_missing_package_is_a_sentence_that_names_the_extra(packages, program, sentence):
    done = run_without(packages, program)
    assert done.stderr.strip().endswith(f"MissingExtraError: {sentence}")


def test_the_command_without_its_packages_is_a_sentence():
    done = run_without(("typer",), "from topicloom.__main__ import entry; entry()")
    assert done.returncode == 2
    assert done.stderr == "topicloom: the command topicloom needs typer; in a clone: pip install '.[cli]'\n"


def test_no_sentence_sends_people_to_an_index_that_has_no_topicloom():
    root = Path(__file__).parents[1]
    files = [
        *(root / "src").rglob("*.py"),
        *(root / "docs").rglob("*.md"),
        *root.glob("*.md"),
        *(root / "tools").glob("*"),
    ]
    said = [path for path in files if path.is_file() and "reference" not in path.parts and path.name != "CHANGELOG.md"]
    assert len(said) > 200
    assert [path.name for path in said if re.search(r"pip install\s+['\"]?topicloom", path.read_text("utf-8"))] == []
