"""Which definitions of the engine a measurement can reach, and a hash of them.

A definition is a function, a method, a class without its methods, or an assignment at the top of a module. It counts
where a name leads to it from the measurement: in the same module, through an import, as an attribute of a class that is
reached, or as the text by which ``@method`` enters a construction. What is not reached does not count, and neither do
files, folders, imports, docstrings, comments and the names of modules.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGES = Path(__file__).parents[2]
# What a value depends on, beside the module of its measurement: these modules and those below them.
ENGINE = (
    *("topicloom.kernels", "topicloom.methods", "topicloom.churn", "topicloom.measures"),
    *("topicloom.datasets.generate", "topicloom.datasets.tables", "topicloom.datasets.workload"),
    *("topicloom_papers.simulation", "topicloom_papers.cells.inputs", "topicloom_papers.printed"),
)
# What lies below them and is none of the code that a value depends on.
BESIDE = ("topicloom.methods.bounds", "topicloom.methods.refinement", "topicloom.methods.star_sets")
_MODULE = re.compile(r"topicloom(_papers)?(\.\w+)+")


class DefinedName(NamedTuple):
    """Where a name is defined."""

    module: str
    name: str


class _Definition(NamedTuple):
    """What of a definition counts: its code, the names and texts in it, and its methods."""

    code: tuple[str, ...]
    names: frozenset[tuple[str, ...]]
    texts: frozenset[str]
    methods: tuple[DefinedName, ...]


@dataclass
class _Module:
    """What a module defines, what its imported names stand for, and which texts enter which of its functions."""

    defined: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    entered: dict[str, str] = field(default_factory=dict)


@cache
def fingerprint(module: str, function: str, texts: frozenset[str] = frozenset()) -> str:
    """Hash the definitions that a function of a module can reach, given the texts in what it is called with.

    Returns the first 16 hexadecimal digits.
    """
    found = {code for place in reachable(module, function, texts) for code in _definition(place).code}
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:16]


def reachable(module: str, function: str, texts: Iterable[str] = ()) -> set[DefinedName]:
    """Find the definitions that a function of a module can reach."""
    entered = _entered()
    waiting = {DefinedName(module, function), *(entered[text] for text in texts if text in entered)}
    reached: set[DefinedName] = set()
    methods: set[DefinedName] = set()
    called: set[str] = set()
    while waiting:
        reached |= waiting
        about = [(place, _definition(place)) for place in waiting]
        for _, definition in about:
            methods.update(definition.methods)
            called |= definition.texts | {name for chain in definition.names for name in chain[1:]}
        waiting = {entered[text] for text in called if text in entered}
        waiting |= {method for method in methods if method.name.rpartition(".")[2] in called}
        for place, definition in about:
            found = (_find(place.module, chain) for chain in definition.names)
            waiting |= {to for to in found if to is not None and (is_engine(to.module) or to.module == module)}
        waiting -= reached
    return reached


def texts_that_enter(texts: Iterable[object]) -> frozenset[str]:
    """Keep the texts by which construction methods are called."""
    return frozenset(text for text in texts if isinstance(text, str) and text in _entered())


def is_engine(module: str) -> bool:
    """Whether definitions of a module count."""

    def below(folders: Iterable[str]) -> bool:
        return any(module == folder or module.startswith(f"{folder}.") for folder in folders)

    return below(ENGINE) and not below(BESIDE)


@cache
def _entered() -> dict[str, DefinedName]:
    """Texts by which functions are entered, over all of the engine."""
    modules = (name for name in _names_of_modules() if is_engine(name))
    return {text: DefinedName(name, to) for name in modules for text, to in _parsed(name).entered.items()}


def _names_of_modules() -> Iterator[str]:
    for top in sorted({name.partition(".")[0] for name in ENGINE}):
        for path in sorted((PACKAGES / top).rglob("*.py")):
            yield ".".join(path.relative_to(PACKAGES).with_suffix("").parts).removesuffix(".__init__")


def _file_of(module: str) -> Path | None:
    path = PACKAGES.joinpath(*module.split("."))
    return next((found for found in (path / "__init__.py", path.with_suffix(".py")) if found.is_file()), None)


@cache
def _parsed(module: str) -> _Module:
    path = _file_of(module)
    found = _Module()
    if path is None:
        return found
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.imported |= {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found.imported |= {alias.asname: (alias.name, "") for alias in node.names if alias.asname}
    for statement in _statements(tree.body):
        for name in _defines(statement):
            found.defined.setdefault(name, []).append(statement)
        for decorator in getattr(statement, "decorator_list", ()):
            match decorator:
                case ast.Call(func=ast.Name(id="method"), args=[ast.Constant(value=str(text)), *_]):
                    found.entered[text] = _defines(statement)[0]
    return found


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under a condition included."""
    for node in body:
        inner = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For):
            yield from _statements(line for lines in inner for line in lines)
        else:
            yield node


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [part.id for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)]


@cache
def _definition(place: DefinedName) -> _Definition:
    """What a definition, or a method of a class, says."""
    owner, _, method = place.name.partition(".")
    code: list[str] = []
    names: set[tuple[str, ...]] = set()
    texts: set[str] = set()
    methods: list[DefinedName] = []
    for whole in _parsed(place.module).defined[owner]:
        node, apart = _split(whole)
        methods += [DefinedName(place.module, f"{owner}.{part.name}") for part in apart]
        for part in [part for part in apart if part.name == method] if method else [node]:
            bare = _Bare().visit(ast.parse(ast.unparse(part)).body[0])
            code.append(f"{owner if method else ''}: {ast.dump(bare)}")
            names |= set(_chains(bare))
            constants = (text.value for text in ast.walk(bare) if isinstance(text, ast.Constant))
            texts |= {text for text in constants if isinstance(text, str)}
    return _Definition(tuple(code), frozenset(names), frozenset(texts), () if method else tuple(methods))


def _split(node: ast.stmt) -> tuple[ast.stmt, list[ast.FunctionDef]]:
    """Take the methods that are called by name out of a class."""
    if not isinstance(node, ast.ClassDef):
        return node, []
    apart = [part for part in node.body if isinstance(part, ast.FunctionDef) and not part.name.startswith("__")]
    kept = [part for part in node.body if part not in apart] or [ast.Pass()]
    return ast.ClassDef(node.name, node.bases, node.keywords, kept, node.decorator_list), apart


def _chains(node: ast.AST) -> Iterator[tuple[str, ...]]:
    """Yield the names in a definition, each with the attributes that are asked of it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield (part.id,)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):  # an annotation may be a text
            yield from ((name,) for name in re.findall(r"\w+", part.value[:80]))
        elif isinstance(part, ast.Attribute):
            attributes: list[str] = []
            at: ast.expr = part
            while isinstance(at, ast.Attribute):
                attributes.insert(0, at.attr)
                at = at.value
            yield (at.id if isinstance(at, ast.Name) else "", *attributes)


@cache
def _find(module: str, chain: tuple[str, ...]) -> DefinedName | None:
    """Where a name, or an attribute of an imported module, is defined."""
    name, *rest = chain
    found = _parsed(module)
    if name in found.defined:
        return DefinedName(module, name)
    if name not in found.imported:
        return None
    source, original = found.imported[name]
    whole = f"{source}.{original}" if original else source
    if original not in _names_in(source) and _file_of(whole) is not None:  # a module
        return _find(whole, tuple(rest)) if rest else None
    return _find(source, (original, *rest)) if (source, original) != (module, name) else None


def _names_in(module: str) -> set[str]:
    return {*_parsed(module).defined, *_parsed(module).imported}


class _Bare(ast.NodeTransformer):
    """Drops docstrings, imports and the names of modules."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _says_nothing(line)] or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_module = isinstance(node.value, str) and _MODULE.fullmatch(node.value)
        return ast.Constant("") if is_module else node


def _says_nothing(node: ast.AST) -> bool:
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return text or isinstance(node, ast.Import | ast.ImportFrom)
