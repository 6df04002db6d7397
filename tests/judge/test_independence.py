"""The judge shares no code with what it judges."""

import ast
from pathlib import Path

import topicloom.judge

ALLOWED = ("topicloom.judge", "topicloom.model", "topicloom.errors")


def test_the_judge_imports_only_the_model_and_the_errors() -> None:
    for path in Path(topicloom.judge.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith("topicloom") or name.startswith(ALLOWED), f"{path.name} imports {name}"
