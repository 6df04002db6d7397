"""Imports go down the layers only, and the judge knows nothing of what it judges."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import topicloom

PACKAGE = Path(topicloom.__file__).parent
# From the top down; a layer may import those after it.
LAYERS = (
    "cli", "page", "auditing", "deploy", "study", "stream", "pipeline", "engine", "spark", "simulation", "star_sets",
    "methods",
    "refinement", "bounds", "churn", "routing", "measures", "judge", "workloads", "kernels", "reading", "storage",
    "model", "extras", "version", "errors",
)  # fmt: skip
# Overlay.save, .measure and .verify call what they are named for (docs/decisions/0003); its directory is storage's.
ALLOWED_UPWARDS = {("model/overlay.py", layer) for layer in ("measures", "judge", "storage", "page", "routing")}
ALLOWED_UPWARDS.add(("model/site_network.py", "reading"))  # Network.read, likewise
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def imported_layers(path: Path) -> set[str]:
    layers = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path} imports relatively"
            if name.startswith("topicloom."):
                layers.add(name.split(".")[1])
            elif name == "topicloom":
                layers |= {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else {"cli"}
    return layers


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path):
    own = path.relative_to(PACKAGE).parts[0]
    above = LAYERS[: LAYERS.index(own)]
    upwards = {(path.relative_to(PACKAGE).as_posix(), layer) for layer in imported_layers(path) if layer in above}
    assert upwards <= ALLOWED_UPWARDS


@pytest.mark.parametrize("path", sorted((PACKAGE / "judge").glob("*.py")), ids=lambda path: path.name)
def test_the_judge_shares_no_code_with_what_it_judges(path):
    assert not imported_layers(path) & {"methods", "kernels", "churn", "pipeline"}


LIBRARY = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] not in ("cli", "deploy", "spark", "study")]


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_sentences_of_the_library_name_no_flag_of_the_command_line(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documented]
    assert not [text for text in texts if isinstance(text, str) and re.search(r"(?<!\w)--[a-z]{2,}", text)]


def test_no_file_name_is_used_twice_except_by_a_command_and_what_it_calls():
    names = [path.name for path in MODULES if path.name != "__init__.py" and path.parent.name != "commands"]
    assert not [name for name, times in Counter(names).items() if times > 1]


def test_every_subpackage_has_a_layer():
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} <= set(LAYERS)


def test_in_memory_api_does_not_import_pyspark():
    import subprocess
    import sys

    code = "import sys, topicloom as tl; tl.design(tl.generate(nodes=5, topics=3, subscriptions=2), 'ring-pt'); "
    subprocess.run([sys.executable, "-c", code + "sys.exit('pyspark' in sys.modules)"], check=True)
