"""Links of the pages lead somewhere: to a file of the project, and to a heading where they name one."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import topicloom

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


def test_the_reference_is_that_of_the_code() -> None:
    written = subprocess.run(
        [sys.executable, "tools/reference.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(written.stdout) == {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md")
    }, "run: make reference"


FUNCTIONS = [name for name in topicloom.__all__ if inspect.isfunction(getattr(topicloom, name))]
SECTIONS = ("Parameters", "Returns", "See Also", "Examples")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_gives_and_costs(name: str) -> None:
    text = inspect.getdoc(getattr(topicloom, name)) or ""
    assert [part for part in SECTIONS if f"\n{part}\n{'-' * len(part)}\n" not in text] == []
    assert re.search(r"\bO\(|\b[Cc]osts?\b|effort", text), "no cost"
    assert ">>> " in text, "no example that runs"


@pytest.mark.parametrize("name", topicloom.METHODS)
def test_a_method_of_a_paper_cites_it_by_a_key_of_the_list(name: str) -> None:
    keys = set(re.findall(r"^\| \[([\w-]+)\]", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"), re.MULTILINE))
    spec = topicloom.METHODS[name]
    cited = re.search(r"\nReferences\n-+\n((?:.+\n)+)", inspect.getdoc(spec.function) or "")
    named = set(re.findall(r"\[([\w-]+)\]", cited[1])) if cited else set()
    assert named <= keys
    assert named or spec.reference or "no paper" in spec.paper
