"""Imports go down the layers only, and the judge knows nothing of what it judges."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import topicloom

PACKAGE = Path(topicloom.__file__).parent
LABORATORY = "topicloom_papers"
# From the top down: the rooms of a floor may import those after them on it, and all lower floors.
FLOORS = (
    ("cli",),
    ("spark",),
    ("page", "brokers", "runs"),
    ("methods", "churn", "routing"),
    ("measures", "judge", "datasets", "files"),
    ("kernels", "model"),
    ("extras", "version", "errors"),
)
LAYERS = tuple(room for floor in FLOORS for room in floor)
# Modules that only re-export, and whose rooms they open.
DOORS = {"pipeline": "spark", "stream": "spark", "deploy": "brokers", "auditing": "brokers"}
# Overlay.save, .measure and .verify call what they are named for (docs/decisions/0003); its directory is that of files.
ALLOWED_UPWARDS = {("model/overlay.py", layer) for layer in ("measures", "judge", "files", "page", "routing")}
# Where the product opens the laboratory: lazily, or for types alone.
TO_THE_LABORATORY = {"__init__.py", "cli/commands/study.py"}
ALLOWED_UPWARDS.add(("model/site_network.py", "files"))  # Network.read, likewise
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def imported_layers(path: Path) -> set[str]:
    layers = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path} imports relatively"
            if name.startswith("topicloom."):
                layers.add(DOORS.get(name.split(".")[1], name.split(".")[1]))
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
    assert not imported_layers(path) & {"methods", "kernels", "churn", "spark"}


LIBRARY = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] not in ("cli", "brokers", "spark")]


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


@pytest.mark.parametrize("door", DOORS)
def test_a_door_only_opens_rooms(door):
    tree = ast.parse((PACKAGE / f"{door}.py").read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def test_the_product_opens_the_laboratory_by_its_doors_and_lazily():
    opened = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    opened = {name: path for name, path in opened.items() if LABORATORY in path.read_text(encoding="utf-8")}
    told = {"kernels/notice.py", "spark/session/ship.py", "spark/session/failures.py"}  # which name it as a text
    assert set(opened) - told <= TO_THE_LABORATORY
    for path in opened.values():
        statements = ast.parse(path.read_text(encoding="utf-8")).body
        at_once = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
        assert not [node for node in at_once if LABORATORY in ast.unparse(node)]


def test_no_folder_has_the_name_of_a_public_function():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders & set(topicloom.__all__) <= {"datasets"}


def test_the_picture_of_the_rooms_is_current():
    import runpy

    root = PACKAGE.parents[1]
    drawn = runpy.run_path(str(root / "tools" / "draw_rooms.py"))
    assert tuple(room for floor in drawn["FLOORS"] for room in floor if room != LABORATORY) == LAYERS[:-3]
    picture = (root / "docs" / "rooms.svg").read_text(encoding="utf-8")
    assert picture == drawn["drawn"](), "run: python tools/draw_rooms.py docs/rooms.svg"
