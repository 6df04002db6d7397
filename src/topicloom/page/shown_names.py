"""Names of nodes and topics as text on a page. They are untrusted: what a reader could not see is shown by number."""

import re
from html import escape

# The same set as UNSEEN in static/js/names.js; tests/page/test_shown_names.py compares the two over all code points.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e007f\U000f0000-\U000ffffd\U00100000-\U0010fffd]"
)


def shown(name: str, most: int = 400) -> str:
    r"""Return a name as it is shown: control characters and direction marks by number, long names cut in the middle.

    >>> shown("mq\u202e7")
    'mq⟨202E⟩7'
    """
    text = name if len(name) <= most else f"{name[: most // 2]} … {name[-(most // 2) :]}"
    return _UNSEEN.sub(lambda found: f"⟨{ord(found[0]):04X}⟩", text)


def markup(name: str) -> str:
    """Return a name as HTML that can neither be markup nor turn the text around it, with breaks after slashes."""
    return f"<bdi>{escape(shown(name)).replace('/', '/<wbr>')}</bdi>"
