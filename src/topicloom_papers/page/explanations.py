"""The prose of the page of results, kept as Markdown beside this file: what is built, and why numbers differ."""

from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
# What of each paper is built, where, and how it was checked.
BUILT = (_FOLDER / "built.md").read_text(encoding="utf-8").strip()


class Explanation(NamedTuple):
    """A short answer, and the page with the whole of it."""

    answer: str
    page: str = ""


def _explanations(text: str) -> dict[str, Explanation]:
    """Read sections that begin with a key and, on the next line, the page."""
    found = {}
    for section in text.split("\n## ")[1:]:
        key, page, answer = section.split("\n", 2)
        found[key] = Explanation(" ".join(answer.split()), "" if page == "no page" else page)
    return found


EXPLANATIONS = _explanations((_FOLDER / "explanations.md").read_text(encoding="utf-8"))
