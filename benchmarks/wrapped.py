"""Wrap the sentences of a generated page at 120 characters, and leave tables, headings and pictures as they are."""

import textwrap

WIDTH = 120
_WHOLE = ("|", "#", "<", "!")


def wrapped(page: str) -> str:
    """Return the page with every longer line of prose broken at blanks."""
    return "\n".join(part for line in page.split("\n") for part in _lines(line))


def _lines(line: str) -> list[str]:
    if len(line) <= WIDTH or line.startswith(_WHOLE):
        return [line]
    rest = "  " if line.startswith("- ") else ""
    return textwrap.wrap(line, WIDTH, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
