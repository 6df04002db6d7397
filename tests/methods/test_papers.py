"""Papers are listed once, in docs/papers.md, and docstrings cite them by the keys given there."""

import re
from pathlib import Path

import pytest

import topicloom as tl

LIST = Path(__file__).parents[2] / "docs" / "papers.md"
KEYS = set(re.findall(r"^\| \[([a-z0-9-]+)\] \|", LIST.read_text(encoding="utf-8"), flags=re.MULTILINE))
CITED = [*(spec.function for spec in tl.METHODS.values() if not spec.paper.startswith("no paper")), tl.join]


@pytest.mark.parametrize("function", CITED, ids=lambda function: function.__name__)
def test_references_are_keys_of_the_list(function):
    _, _, references = (function.__doc__ or "").partition("References\n")
    cited = set(re.findall(r"\[([a-z0-9-]+)\]", references.partition("Examples\n")[0]))
    assert cited and cited <= KEYS


def test_every_erratum_says_which_paper_it_is_about():
    errata = LIST.with_name("errata.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## .*\[([a-z0-9-]+)\]$", errata, flags=re.MULTILINE)
    assert headings and set(headings) <= KEYS
    numbers = re.findall(r"^### (\S+)$", errata, flags=re.MULTILINE)
    assert len(numbers) == len(set(numbers)) >= 15
