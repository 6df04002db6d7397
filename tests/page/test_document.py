"""The page as text: one file, no network, nothing of an overlay as markup, the same bytes each time."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

import topicloom as tl
from support.hostile_page_names import NAMES
from topicloom.page import document, gather
from topicloom.page.document import MODULES, joined_scripts


def page_of(overlay: tl.Overlay, **given: object) -> str:
    return document(gather(overlay, title="a network", **given))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(text)
    return parser.found


def test_a_page_asks_nobody_for_anything() -> None:
    for tag, attributes in tags(page_of(tl.design(tl.datasets.example()))):
        assert tag not in {"img", "iframe", "object", "embed", "base", "form"}
        assert not {"src", "srcset", "style", "onload", "onclick"} & set(attributes), (tag, attributes)
        assert attributes.get("href", "#").startswith(("#", "data:,"))


def test_the_policy_forbids_the_network_and_foreign_scripts() -> None:
    policy = next(a["content"] for t, a in tags(page_of(tl.design(tl.datasets.example()))) if "content" in a
                  and (a.get("http-equiv") or "").startswith("Content-Security"))  # fmt: skip
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_the_same_overlay_gives_the_same_bytes() -> None:
    overlay = tl.design(tl.generate(nodes=40, topics=9, subscriptions=3, seed=5))
    code = (
        "import topicloom as tl, hashlib; from topicloom.page import document, gather;"
        "overlay = tl.design(tl.generate(nodes=40, topics=9, subscriptions=3, seed=5));"
        "print(hashlib.sha256(document(gather(overlay, title='a network')).encode()).hexdigest())"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    from hashlib import sha256

    assert shown.stdout.strip() == sha256(page_of(overlay).encode()).hexdigest()


def hostile() -> tl.Overlay:
    nodes = [name for place, name in enumerate(NAMES) for _ in range(2)]
    topics = [NAMES[(place + step) % len(NAMES)] for place in range(len(NAMES)) for step in (0, 1)]
    return tl.design(tl.Interest.from_pairs(nodes, topics))


def test_no_name_becomes_markup() -> None:
    places = range(2 * len(NAMES))
    nodes, topics = [f"n{i // 2}" for i in places], [f"t{(i // 2 + i % 2) % len(NAMES)}" for i in places]
    plain = tl.design(tl.Interest.from_pairs(nodes, topics))

    def count(text: str) -> dict[str, int]:
        found = [tag for tag, _ in tags(text) if tag != "wbr"]
        return {tag: found.count(tag) for tag in set(found)}

    text = document(gather(hostile(), title=NAMES[0]))
    assert count(text) == count(page_of(plain))
    assert not re.search(
        "[\u202a-\u202e\u2066-\u2069]", re.sub(r'<script type="application/json".*?</script>', "", text)
    )


def test_verdicts_say_what_the_judge_says() -> None:
    interest = tl.Interest.from_pairs(["a", "b", "c", "a", "d"], ["t", "t", "t", "u", "u"])
    whole = page_of(tl.Overlay.from_links(interest, [("a", "b"), ("b", "c"), ("a", "d")]))
    assert "Every message reaches all its subscribers" in whole
    assert "2 of 2 topics are connected, checked by the judge" in whole
    assert "1 broker is a single point of failure" in whole
    broken = page_of(tl.Overlay.from_links(interest, [("a", "b"), ("a", "d")]))
    assert "1 topic is not connected" in broken
    assert "Every message reaches" not in broken
    safe = page_of(tl.Overlay.from_links(interest, [("a", "b"), ("b", "c"), ("a", "c"), ("a", "d")]))
    assert "Any one broker may fail" in safe


def test_a_plan_marks_the_links_of_each_topic() -> None:
    overlay = tl.design(tl.generate(nodes=30, topics=6, subscriptions=3, seed=3), k=2)
    routes = tl.routes(overlay)
    picture = gather(overlay, title="x", routes=routes)
    links, interest = picture.links.tolist(), overlay.interest
    could = [(u, v, t) for u, v in links for t in np.intersect1d(
        interest.topics[interest.indptr[u] : interest.indptr[u + 1]],
        interest.topics[interest.indptr[v] : interest.indptr[v + 1]]).tolist()]  # fmt: skip
    rows = set(
        zip(
            routes.src[routes.active].tolist(), routes.dst[routes.active].tolist(), routes.topic[routes.active].tolist()
        )
    )
    assert picture.tree is not None
    assert picture.tree.tolist() == [row in rows for row in could]
    assert sum(picture.tree) == routes.n_rows


def test_scripts_fit_into_one_module() -> None:
    text = joined_scripts()
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)
    names = re.findall(r"^(?:function|const|let) (\w+)|^  (\w+) = \d+,$", text, re.MULTILINE)
    top = [name for pair in names for name in pair if name]
    assert len(top) == len(set(top))
    shipped = {path.name for path in files("topicloom.page").joinpath("static/js").iterdir()}
    assert shipped == {f"{name}.js" for name in MODULES}


def test_each_script_imports_only_from_those_before_it() -> None:
    for place, name in enumerate(MODULES):
        text = files("topicloom.page").joinpath(f"static/js/{name}.js").read_text(encoding="utf-8")
        assert set(re.findall(r'from "\./(\w+)\.js"', text)) <= set(MODULES[:place])


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_overlays_have_a_page(n: int) -> None:
    interest = tl.Interest.from_pairs([f"n{i}" for i in range(n)], ["t"] * n)
    assert "</html>" in page_of(tl.design(interest))
