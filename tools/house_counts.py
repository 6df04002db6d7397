"""Print how large the house is and how its rooms hang together, as a Markdown table.

    python tools/house_counts.py [TREE …]

A column for each tree, this one if none is given; a tree of before the thirteen rooms is counted by the same rules.
docs/architecture.md ends with the result.
"""

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Modules that only re-export, and whose rooms they open; where such a name is a package, it is a room itself.
DOORS = {"pipeline": "spark", "stream": "spark", "deploy": "brokers", "auditing": "brokers"}
LABORATORY = {"study", "simulation"}  # before it became a package of its own
NO_PARTICIPLES = ("need", "feed", "seed", "speed", "string")
LOADED = """
import sys
import topicloom.cli.app, topicloom.cli.commands.design
print(sum(name.startswith("topicloom") for name in sys.modules))
"""


@dataclass(frozen=True)
class Module:
    """A file of ``src`` in a room."""

    path: Path
    parts: tuple[str, ...]  # below src

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def in_laboratory(self) -> bool:
        return self.parts[0] == "topicloom_papers" or self.parts[1] in LABORATORY

    @property
    def room(self) -> str:
        """The room that it stands in, or nothing for a module beside the rooms."""
        if self.parts[0] == "topicloom_papers":
            return "laboratory"
        return self.parts[1] if len(self.parts) > 2 else ""

    @property
    def code_lines(self) -> int:
        """Lines that hold code: no docstrings, comments and blank lines."""
        said: set[int] = set()
        for node in ast.walk(self.tree):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                said |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        lines = ((number, line.strip()) for number, line in enumerate(self.text.splitlines(), 1))
        return sum(1 for number, line in lines if number not in said and line and not line.startswith("#"))

    @property
    def late_imports(self) -> int:
        """Imports of the project inside functions."""
        functions = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        inner = (node for function in functions for node in ast.walk(function))
        return len({node.lineno for node in inner if _imported(node)})

    @property
    def functions(self) -> list[str]:
        return [node.name for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    @property
    def mirrors(self) -> set[str]:
        """Where its test may stand, below ``tests``."""
        room = "papers" if self.parts[0] == "topicloom_papers" else self.parts[1]
        inner = "/".join(self.parts[2:-1])
        return {f"{room}/test_{self.path.name}", f"{room}/{inner}/test_{self.path.name}"}


def _imported(node: ast.AST) -> str:
    """The module of the project that a statement imports from, or nothing."""
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    return module if module.startswith("topicloom") else ""


@dataclass(frozen=True)
class House:
    """A tree of the project."""

    root: Path

    @cached_property
    def modules(self) -> list[Module]:
        source = self.root / "src"
        paths = sorted(path for path in source.rglob("*.py") if path.parent != source)
        return [Module(path, path.relative_to(source).parts) for path in paths]

    def is_room(self, name: str) -> bool:
        return name == "laboratory" or (self.root / "src" / "topicloom" / name / "__init__.py").exists()

    def room_of(self, module: str) -> str:
        """The room that a module stands in, by its dotted name."""
        top, _, rest = module.partition(".")
        room = rest.partition(".")[0]
        if top == "topicloom_papers":
            return "laboratory"
        return room if self.is_room(room) else DOORS.get(room, room)

    def pairs(self) -> set[tuple[str, str]]:
        """Which rooms import which."""
        found = {
            (module.room, self.room_of(name))
            for module in self.modules
            for node in ast.walk(module.tree)
            if (name := _imported(node))
        }
        return {(one, other) for one, other in found if one and one != other and other and self.is_room(other)}

    def doubled_classes(self) -> list[str]:
        """Class names that stand for more than one thing."""
        names = Counter(
            node.name for module in self.modules for node in module.tree.body if isinstance(node, ast.ClassDef)
        )
        return sorted(name for name, times in names.items() if times > 1)

    def tested(self) -> Iterator[bool]:
        """Whether each module has a test at its mirrored path."""
        tests = {path.relative_to(self.root / "tests").as_posix() for path in (self.root / "tests").rglob("test_*.py")}
        for module in self.modules:
            if module.room and module.path.name not in ("__init__.py", "__main__.py"):
                yield bool(module.mirrors & tests)

    def loaded_by_design(self) -> str:
        """How many modules of the project the command ``design`` has imported before it does anything."""
        here = {**os.environ, "PYTHONPATH": str(self.root / "src")}
        done = subprocess.run([sys.executable, "-c", LOADED], env=here, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def counts(self) -> dict[str, str]:
        """What is counted, by its name."""
        core = [module for module in self.modules if not module.in_laboratory]
        laboratory = [module for module in self.modules if module.in_laboratory]
        rooms = {module.parts[1] for module in self.modules if module.parts[0] == "topicloom" and len(module.parts) > 2}
        beside = " + laboratory" if self.is_beside() else ""
        functions = [name for module in self.modules for name in module.functions]
        participles = sum(map(_is_participle, functions))
        tested = list(self.tested())
        in_cli = sum(module.late_imports for module in self.modules if module.room == "cli")
        return {
            "packages at the top": f"{len(rooms)}{beside}",
            "package pairs": str(len(self.pairs())),
            "modules, core / laboratory": f"{len(core)} / {len(laboratory)}",
            "code lines, core / laboratory": " / ".join(
                f"{sum(module.code_lines for module in some):,}" for some in (core, laboratory)
            ),
            "modules loaded by `design`": self.loaded_by_design(),
            "late imports (in cli)": f"{sum(module.late_imports for module in self.modules)} ({in_cli})",
            "class names for two things": str(len(self.doubled_classes())),
            "functions that begin with a participle": f"{participles} ({participles / len(functions):.0%})",
            "modules with a test at the mirrored path": f"{sum(tested)} ({sum(tested) / len(tested):.0%})",
        }

    def is_beside(self) -> bool:
        """Whether the laboratory is a package beside the product."""
        return (self.root / "src" / "topicloom_papers").is_dir()


def _is_participle(name: str) -> bool:
    first = name.lstrip("_").partition("_")[0]
    return first.endswith(("ed", "ing")) and first not in NO_PARTICIPLES


def main(trees: list[str]) -> None:
    """Print the table."""
    houses = [House(Path(tree).resolve()) for tree in trees or [str(ROOT)]]
    columns = [house.counts() for house in houses]
    print("| measure | " + " | ".join(trees or ["now"]) + " |")
    print("|---|" + "--:|" * len(columns))
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")
    for house in houses[-1:]:
        print(f"\nClass names for two things: {', '.join(house.doubled_classes()) or 'none'}.", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
