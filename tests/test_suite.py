"""The suite itself: a failure can be repeated, and the source distribution has what the tests need."""

import ast
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
# Called without a seed, or in the name of the module, these draw differently in every run.
SEEDED = {"default_rng", "Random"}
FROM_A_SHARED_STATE = {"random", "randint", "randrange", "choice", "choices", "sample", "shuffle", "uniform", "gauss"}


def draws_of_chance(path: Path) -> list[int]:
    """Lines of a file that draw what no later run can draw again."""
    lines = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {
        alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = ast.unparse(call.func)
        module, _, name = function.rpartition(".")
        unseeded = name in SEEDED and not call.args and not call.keywords
        shared = name in FROM_A_SHARED_STATE and module in {"random", "np.random"} and module.split(".")[0] in modules
        if unseeded or shared:
            lines.append(call.lineno)
    return lines


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.relative_to(ROOT / "tests").as_posix())
def test_what_a_test_draws_can_be_drawn_again(path: Path) -> None:
    assert draws_of_chance(path) == []


def test_a_draw_without_a_seed_is_found(tmp_path: Path) -> None:
    text = (
        "import random\nimport numpy as np\nnp.random.default_rng()\nrandom.shuffle([1])\nrandom.Random(3).random()\n"
    )
    (tmp_path / "drawn.py").write_text(text)
    assert draws_of_chance(tmp_path / "drawn.py") == [3, 4]


def test_a_property_that_fails_prints_the_line_that_runs_its_example_again() -> None:
    assert settings().print_blob


def test_files_that_share_a_session_of_spark_are_listed_and_listed_files_exist(request: pytest.FixtureRequest) -> None:
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    sharing = {item.path for item in request.session.items if "spark" in getattr(item, "fixturenames", ())}
    listed = {name for names in conftest.SESSIONS for name in names}
    assert {conftest.name_of(path) for path in sharing} <= listed
    assert set(conftest.FIRST) <= {conftest.name_of(path) for path in TESTS}


def in_the_source_distribution(file: str, lines: list[list[str]]) -> bool:
    """Whether setuptools packs a file: what MANIFEST.in names, the package, and what every distribution has."""
    always = {"pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"}
    named = {name for kind, *names in lines if kind == "include" for name in names}
    folders = [name for kind, *names in lines if kind == "graft" for name in names]
    return file in always | named or file.startswith(("src/", *(f"{folder}/" for folder in folders)))


def test_the_source_distribution_has_every_file_of_the_repository_but_its_services() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode or not (ROOT / ".git").exists():
        pytest.skip("these are the files of a source distribution")
    lines = [line.split() for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines() if line]
    left_out = {file for file in listed.stdout.splitlines() if not in_the_source_distribution(file, lines)}
    assert [file for file in sorted(left_out) if not file.startswith(".")] == []
    assert "tests/conftest.py" in listed.stdout.splitlines()
