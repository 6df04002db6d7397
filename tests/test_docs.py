"""Links of the pages lead somewhere, and docstrings say what a caller has to know."""

import ast
import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import topicloom
from topicloom.cli.app import main

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.*?) *$", page.read_text(encoding="utf-8"), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a (?:name|id)="([^"]+)"', page.read_text(encoding="utf-8")))


def _broken(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for link in LINK.findall(text):
        path, _, anchor = link.partition("#")
        target = page if not path else page.parent / path
        if "://" in link or link.startswith("mailto:"):
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in _anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert _broken(page) == []


FRAGMENTS = sorted(path for path in (ROOT / "changes").iterdir() if path.name not in ("README.md", "template.md"))


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_of_the_changelog_is_one_sentence_of_a_known_kind(fragment: Path) -> None:
    assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed)\.md", fragment.name)
    text = fragment.read_text(encoding="utf-8").rstrip("\n")
    assert "\n" not in text
    assert 0 < len(text) <= 118
    assert not text.startswith("-")


def test_the_reference_is_that_of_the_code() -> None:
    written = subprocess.run(
        [sys.executable, "tools/reference.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(written.stdout) == {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")
    }, "run: make reference"


# The commands of the README that end with another exit code than 0 on the table below, and why.
EXPECTED = {
    "topicloom audit etc-today": 1,  # three bridges make a circle
    "topicloom drill overlay": 1,  # some brokers are single points of failure
    "topicloom diff have.csv overlay": 1,  # links go and come
    "topicloom plan needs-new.csv": 1,  # a broker leaves, another joins
    "topicloom diff plan overlay-2/plan": 1,
}


def _commands_of_the_operator() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## I run brokers")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("topicloom ")]


def _operators_files(folder: Path) -> None:
    """Write a sheet as a German Excel exports it, a star, addresses, and three Mosquitto files that make a circle."""
    rows = [
        f'mq-{b:02d};Werk {b % 3};Linie/{t:02d};"ja; geprüft"' for b in range(1, 13) for t in range(9) if b * t % 7 < 3
    ]
    newer = [row for row in rows if not row.startswith("mq-07")] + ["mq-13;Werk 2;Linie/01;neu"]
    for name, lines in (("needs.csv", [*rows, rows[3], "mq-03;Werk 1", ""]), ("needs-new.csv", newer)):
        text = "\r\n".join(["Broker;Standort;Filter;Bemerkung", *lines]) + "\r\n"
        (folder / name).write_text("\ufeff" + text, encoding="utf-8", newline="")
    links = "".join(f"mq-01;mq-{b:02d}\n" for b in range(2, 13))
    (folder / "have.csv").write_text("src;dst\n" + links, encoding="utf-8")
    brokers = "".join(f"mq-{b:02d};10.0.0.{b};1883\n" for b in range(1, 13))
    (folder / "brokers.csv").write_text("node;host;port\n" + brokers, encoding="utf-8")
    (folder / "etc-today").mkdir()
    for own, other in ((1, 2), (2, 3), (3, 1)):
        text = (
            f"listener 1883 10.0.0.{own}\nconnection to-{other}\naddress 10.0.0.{other}:1883\n"
            "cleansession true\ntopic Linie/01 both 1\n"
        )
        (folder / "etc-today" / f"mq-{own:02d}.conf").write_text(text, encoding="utf-8")


@pytest.mark.skipif(
    shutil.which("mosquitto", path=f"{os.environ.get('PATH')}:/usr/sbin") is None,
    reason="mosquitto is not installed here",
)
def test_the_operators_commands_in_the_readme_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _operators_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPICLOOM_ENGINE", "memory")
    commands = _commands_of_the_operator()
    assert len(commands) > 12
    for line in commands:
        expected = next((code for start, code in EXPECTED.items() if line.startswith(start)), 0)
        assert main(shlex.split(line, comments=True)[1:]) == expected, line + "\n" + capsys.readouterr().err
    assert "exactly once" in capsys.readouterr().out
    assert (tmp_path / "page.html").stat().st_size > 0


@pytest.mark.parametrize("name", topicloom.__all__)
def test_every_public_name_is_on_exactly_one_page_of_the_reference(name: str) -> None:
    others = ("commands.md", "topicloom-pipeline.md", "topicloom-stream.md")
    pages = [page for page in (ROOT / "docs" / "reference").glob("*.md") if page.name not in others]
    heading = re.compile(rf"^## `?{name}`?$", re.MULTILINE)
    found = [page.name for page in pages for _ in heading.findall(page.read_text(encoding="utf-8"))]
    assert len(found) == 1, "give it one page in tools/reference.py, and run: make reference"


# Places in the code: files ending in .py, and folders. A name in capitals stands for one that a reader chooses.
PLACE = re.compile(r"`((?:[a-z_]+/)*(?:[a-z_]+\.py|[a-z_]+/))`")
SHOWN = [
    path.relative_to(ROOT).as_posix() + "/" * path.is_dir()
    for folder in ("src", "tests", "tools", "benchmarks", "docs", "changes")
    for path in (ROOT / folder, *(ROOT / folder).rglob("*"))
]


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_and_folder_that_is_named_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    about_code = re.sub(r"^## The overlay directory\n.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
    named = set(PLACE.findall(about_code))
    assert len(named) > 15
    assert [place for place in sorted(named) if not any(f"/{path}".endswith(f"/{place}") for path in SHOWN)] == []


PROSE = [page for page in PAGES if page.parent.name != "reference" and page.name not in ("results.md", "CHANGELOG.md")]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_line_of_a_page_is_longer_than_120_characters(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith(("|", "!["))] == []


@pytest.mark.parametrize("folder", ["guide", "reference"])
def test_the_index_links_every_page_of_a_folder(folder: str) -> None:
    linked = set(LINK.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    pages = {f"{folder}/{page.name}" for page in (ROOT / "docs" / folder).glob("*.md")}
    assert pages - linked == set()


PACKAGES = ("topicloom", *(f"topicloom.{name}" for name in ("auditing", "deploy", "measures", "pipeline", "stream")))
FUNCTIONS = {
    f"{package}.{name}": getattr(import_module(package), name)
    for package in PACKAGES
    for name in import_module(package).__all__
    if inspect.isfunction(getattr(import_module(package), name))
}
SECTIONS = ("Parameters", "Returns", "See Also", "Examples")
COST = re.compile(r"\bO\(|\b[Cc]osts?\b|effort")


def _section(text: str, title: str) -> str:
    found = re.search(rf"(?:^|\n){title}\n-+\n(.*?)(?=\n[A-Z][A-Za-z ]+\n-+\n|\Z)", text, re.DOTALL)
    return found[1] if found else ""


def _explained(text: str) -> set[str]:
    """Names of the parameters that a docstring explains."""
    heads = [line.partition(" : ")[0] for line in _section(text, "Parameters").splitlines() if line[:1].strip()]
    return {name.strip(" *`") for head in heads for name in head.split(",")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_gives_and_costs(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    taken = inspect.signature(FUNCTIONS[name]).parameters.values()
    assert [part for part in SECTIONS if taken and not _section(text, part)] == []
    assert {given.name for given in taken if given.kind is not given.VAR_KEYWORD} <= _explained(text)
    assert COST.search(text), "no cost"
    assert ">>> " in text, "no example that runs"


SOURCES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in Path(topicloom.__file__).parent.rglob("*.py")}
IMPORTED = {
    (node.module, alias.name)
    for tree in SOURCES.values()
    for node in ast.walk(tree)
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


def _module(path: Path) -> str:
    return ".".join(path.relative_to(Path(topicloom.__file__).parents[1]).with_suffix("").parts)


KERNELS = {
    f"{_module(path)}.{node.name}": node
    for path, tree in sorted(SOURCES.items())
    if "kernels" in path.parts and path.name not in ("jit.py", "notice.py")  # which hold no kernels
    for node in tree.body
    if isinstance(node, ast.FunctionDef) and (_module(path), node.name) in IMPORTED
}


@pytest.mark.parametrize("name", [name for name in KERNELS if ".rounds." not in name])
def test_a_kernel_that_other_files_call_says_what_it_takes_gives_and_costs(name: str) -> None:
    kernel, text = KERNELS[name], ast.get_docstring(KERNELS[name]) or ""
    given = kernel.args
    assert {arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)} <= _explained(text)
    gives = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(kernel))
    assert not gives or _section(text, "Returns") or _section(text, "Yields"), "no returns"
    assert COST.search(text), "no cost"


@pytest.mark.parametrize("name", topicloom.METHODS)
def test_a_method_of_a_paper_cites_it_by_a_key_of_the_list(name: str) -> None:
    keys = set(re.findall(r"^\| \[([\w-]+)\]", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"), re.MULTILINE))
    spec = topicloom.METHODS[name]
    cited = re.search(r"\nReferences\n-+\n((?:.+\n)+)", inspect.getdoc(spec.function) or "")
    named = set(re.findall(r"\[([\w-]+)\]", cited[1])) if cited else set()
    assert named <= keys
    assert named or spec.reference or "no paper" in spec.paper
