"""`import topicloom` loads nothing that is not used, and hides nothing by that."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import topicloom

HEAVY = ("numba", "numpy", "scipy", "pyarrow", "pandas", "pyspark", "typer", "rich")


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        ("import topicloom", HEAVY),
        ("import topicloom; topicloom.Interest", ("numba", "scipy", "pandas", "pyspark")),
        ("import topicloom; topicloom.METHODS", ("scipy.sparse", "pandas", "pyspark")),
        ("import topicloom.cli.app", ("numba", "scipy", "pyarrow", "pandas", "pyspark")),
    ],
)
def test_what_is_not_used_is_not_loaded(code: str, unused: tuple[str, ...]) -> None:
    loaded = run(f"{code}\nimport sys; print(*sys.modules)").stdout.split()
    assert set(unused).isdisjoint(loaded)


def test_every_public_name_is_there() -> None:
    for name in topicloom.__all__:
        assert getattr(topicloom, name) is not None
        assert name in dir(topicloom)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'gm3'"):
        topicloom.gm3  # noqa: B018


def test_types_and_loading_agree_on_where_a_name_lives() -> None:
    tree = ast.parse(Path(topicloom.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == topicloom._HOME_OF
    assert {*typed, "__version__"} == set(topicloom.__all__)


COMPILING = "compiling kernels that no run before this one needed; later runs load them"
COMPILE = """
from topicloom.kernels import notice
notice.PATIENCE = 0
from topicloom.kernels.streams import draw
draw(1, 2, 3)
draw(1.0, 2, 3)
"""


def test_compiling_is_said_once_and_only_when_it_happens(tmp_path: Path) -> None:
    cold, warm = (run(COMPILE, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_DISABLE_JIT="0").stderr for _ in range(2))
    assert cold.splitlines() == [f"topicloom: {COMPILING}"] and "once" not in COMPILING
    assert warm == ""


def test_a_command_says_it_in_its_own_way(capsys: pytest.CaptureFixture[str]) -> None:
    from topicloom.kernels import notice

    told: list[str] = []
    fresh = notice.Notice()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notice, "NOTICE", fresh)
        patch.setattr(notice, "PATIENCE", 0)
        with notice.told_by(told.append):
            fresh.compiling()
            fresh.compiling()
    assert told == [notice.COMPILING]
    assert capsys.readouterr().err == ""
