"""The page in a real browser: what a person does, what breaks, hostile names, printing, speed."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topicloom as tl
from page.conftest import Browser
from page.test_document import hostile
from support.hostile_page_names import NAMES
from topicloom.page import document, gather
from topicloom.page.shown_names import shown

pytestmark = pytest.mark.browser
CHANGED = "return arguments[0].map((p) => String.fromCodePoint(p)).map((c) => topicloom.shown(c) !== c)"
READ = (
    "const { o } = topicloom; return JSON.stringify([o.a, o.b, o.wants.start, o.wants.items].map((x) => Array.from(x)))"
)
SITES = {f"n{i:03d}": f"site {i % 4}" for i in range(80)}


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def network(pages: Path) -> tuple[tl.Overlay, Path]:
    """Eighty brokers in four sites, with a plan, an overlay of before, and a comparison."""
    interest = tl.generate(nodes=80, topics=40, subscriptions=5, popularity="zipf", alpha=1.0, seed=4)
    labelled = tl.Interest.from_pairs([f"n{v:03d}" for v in interest.nodes], [f"t{t:02d}" for t in interest.topics])
    overlay = tl.design(labelled)
    before = tl.design(labelled, "ring-pt")
    picture = gather(overlay, title="eighty brokers", routes=tl.routes(overlay), before=before.links, sites=SITES)
    path = pages / "network.html"
    path.write_text(document(picture), encoding="utf-8")
    return overlay, path


def write(pages: Path, name: str, overlay: tl.Overlay, **given: Any) -> Path:
    path = pages / f"{name}.html"
    path.write_text(document(gather(overlay, title=name, **given)), encoding="utf-8")
    return path


def test_a_page_opens_quietly(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    browser.open(network[1])
    browser.wait("return document.querySelectorAll('#panel li').length > 0")
    assert browser.complaints() == []
    assert browser.requests() == []
    pixels = "const c = document.querySelector('canvas.base'); topicloom.picture.paint();" \
             "return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"  # fmt: skip
    assert browser.run(pixels) > 20  # something is drawn


def answer(report: tl.DrillReport) -> list[Any]:
    cut = [[str(one.topic), sorted(one.pieces, reverse=True), one.lost_pairs] for one in report.cut]
    return [cut, report.topics_holding, report.topics_untouched, report.lost_pairs]


ASK = (
    "const r = topicloom.drill(arguments[0], arguments[1] ?? []);"
    "return [r.cut.map((c) => [topicloom.o.topics[c.topic], c.pieces, c.lost]), r.holding, r.untouched, r.lost]"
)


@pytest.mark.parametrize("size", [1, 2, "site"])
def test_failures_are_those_of_drill(browser: Browser, network: tuple[tl.Overlay, Path], size: int | str) -> None:
    overlay, page = network
    random = np.random.default_rng(7)
    browser.open(page)
    cuts = 0
    for case in range(20):
        if size == "site":
            fail = [v for v in range(80) if v % 4 == case % 4 or v == case]
        else:
            fail = sorted(random.choice(80, int(size), replace=False).tolist())
        report = tl.drill(overlay.interest, overlay, fail=[overlay.interest.node_name(v) for v in fail])
        assert browser.run(ASK, fail) == answer(report)
        cuts += len(report.cut)
    assert cuts > 0


def test_failed_links_cut_what_the_rest_does_not_connect(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    overlay, page = network
    links = overlay.links[np.lexsort((overlay.links[:, 1], overlay.links[:, 0]))]
    random = np.random.default_rng(8)
    browser.open(page)
    for _ in range(20):
        down = sorted(random.choice(len(links), 3, replace=False).tolist())
        left = tl.Overlay(overlay.interest, np.delete(links, down, axis=0))
        expected = sorted(str(one.topic) for one in left.verify().broken)
        assert sorted(cut[0] for cut in browser.run(ASK, [], down)[0]) == expected


def test_clicks_fail_and_repair_a_broker(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    from selenium.webdriver import ActionChains

    browser.open(network[1])
    browser.find("#fail").click()
    node = browser.run("return topicloom.o.weak.order[0]")
    x, y = browser.run("return topicloom.picture.screen(arguments[0])", node)
    stage = browser.find("canvas.top")
    offset = round(x - stage.rect["width"] / 2), round(y - stage.rect["height"] / 2)

    def click() -> None:
        ActionChains(browser.driver).move_to_element_with_offset(stage, *offset).click().perform()

    click()
    assert browser.run("return topicloom.state.failed") == [node]
    cut = browser.run("return topicloom.o.weak.cut[arguments[0]]", node)
    assert browser.find("#panel .figure b").text == str(cut)
    click()
    assert browser.run("return topicloom.state.failed") == []
    assert browser.complaints() == []


def test_a_site_fails_whole(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    browser.open(network[1])
    browser.find("#legend button").click()
    name = browser.find("#legend button bdi").text
    assert browser.find("#panel .big").text == name
    browser.find("#panel .do").click()
    assert browser.find("#panel .big").text == "20 brokers down"


def test_the_search_finds_by_keyboard(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(network[1])
    browser.find("body").send_keys("/")
    field = browser.driver.switch_to.active_element
    assert field.get_attribute("id") == "search"
    field.send_keys("t07", Keys.ENTER)
    assert browser.run("return topicloom.o.topics[topicloom.state.topic]") == "t07"
    assert browser.driver.current_url.endswith("#topic=t07")
    browser.find("body").send_keys(Keys.ESCAPE)
    assert browser.run("return topicloom.state.topic ?? null") is None


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("#fail=n001&fail=n002", "2 brokers down"),
        ("#broker=n003", "n003"),
        ("#topic=t01&draw=tree", "t01"),
        ("#topic=no", ""),
    ],
)
def test_the_address_keeps_what_is_chosen(
    browser: Browser, network: tuple[tl.Overlay, Path], fragment: str, words: str
) -> None:
    browser.open(network[1], fragment)
    found = browser.driver.find_elements("css selector", "#panel .big")
    assert [one.text for one in found] == ([words] if words else [])
    assert browser.complaints() == []


def test_why_a_link_is_there(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    overlay, page = network
    u, v = overlay.links[0].tolist()
    interest = overlay.interest
    both = set(interest.topics_of(interest.node_name(u))) & set(interest.topics_of(interest.node_name(v)))
    browser.open(page, f"#broker={interest.node_name(u)}")
    rows = browser.driver.find_elements("css selector", "#panel details")
    row = next(row for row in rows if interest.node_name(v) in row.text)
    assert f"for {len(both)} topic" in row.text


def test_changes_are_those_of_the_links(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    overlay, page = network
    now = {tuple(link) for link in overlay.links.tolist()}
    then = {tuple(link) for link in tl.design(overlay.interest, "ring-pt").links.tolist()}
    browser.open(page)
    browser.find("#changes").click()
    figures = [one.text for one in browser.driver.find_elements("css selector", "#panel .figure b")]
    assert figures == [str(len(then - now)), str(len(now - then)), str(len(now & then))]


def test_the_tables_say_it_too(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    overlay, page = network
    browser.open(page)
    browser.run("document.querySelector('#links').open = true")
    browser.wait("return document.querySelectorAll('#links tbody tr').length === 25")
    assert f"1–25 of {overlay.n_links}" in browser.find("#links .info").text
    browser.find("#links thead th:nth-child(3) button").click()
    column = browser.find("#links thead th:nth-child(3)")
    assert column.get_attribute("aria-sort") == "descending"
    first = int(browser.find("#links tbody tr td:nth-child(3)").text)
    assert first == overlay.to_pandas()["shared_topics"].max()


@pytest.fixture(scope="session")
def hostile_page(pages: Path) -> Path:
    path = pages / "hostile.html"
    path.write_text(document(gather(hostile(), title=NAMES[0])), encoding="utf-8")
    return path


def test_hostile_names_are_text_and_nothing_else(browser: Browser, hostile_page: Path) -> None:
    browser.open(hostile_page)
    assert set(browser.run("return topicloom.o.nodes")) == set(NAMES)  # they arrive unchanged
    browser.run(
        "const { o, go, picture } = topicloom;"
        "for (let v = 0; v < o.n; v++) { go({ node: v }); picture.paint(); go({ failed: [v] }); picture.paint();"
        "  for (const d of document.querySelectorAll('details')) d.open = true; }"
        "for (let t = 0; t < o.t; t++) { go({ topic: t, tree: t % 2 === 0 }); picture.paint(); }"
    )
    field = browser.find("#search")
    for text in ("script", "proto", "onerror", "202", "/"):
        field.clear()
        field.send_keys(text)
    assert browser.run("return window.pwned ?? null") is None
    odd = "[onload],[onerror],[onclick],[onfocus],[onmouseover],iframe,img,object,embed,base,form,math,template"
    counts = "return arguments[0].map((s) => document.querySelectorAll(s).length)"
    assert browser.run(counts, ["script", "style", "link", odd]) == [2, 1, 1, 0]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u2028\u2029]", browser.run("return document.body.innerText"))
    assert browser.complaints() == []
    assert browser.requests() == []


@pytest.mark.parametrize("policy", [True, False])
def test_the_test_of_hostile_names_can_fail(browser: Browser, pages: Path, policy: bool) -> None:
    """Without escapes such a name breaks the page. The policy still stops its script, and without a policy it runs."""
    overlay = tl.design(tl.Interest.from_pairs([NAMES[0], "b"], ["t", "t"]))
    text = write(pages, "escaped", overlay).read_text(encoding="utf-8")
    for code, character in (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")):
        text = text.replace(code, character)
    if not policy:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    broken = pages / "broken.html"
    broken.write_text(text, encoding="utf-8")
    browser.driver.get("about:blank")
    browser.complaints()
    browser.driver.get(broken.as_uri())
    assert (browser.run("return window.pwned ?? null") is None) == policy
    if policy:
        assert any("Content Security Policy" in line for line in browser.complaints())


def test_names_are_shown_alike_in_python_and_in_the_page(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    browser.open(network[1])
    step = 4096
    for first in range(0, 0x110000, step):
        points = [point for point in range(first, first + step) if not 0xD800 <= point <= 0xDFFF]
        if points:
            found = browser.run(
                "return arguments[0].map((p) => topicloom.shown(String.fromCodePoint(p)) !== String.fromCodePoint(p))",
                points,
            )
            assert found == [shown(chr(point)) != chr(point) for point in points]


def test_a_page_prints_light_and_fine(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    browser.open(network[1])
    browser.run("document.documentElement.dataset.theme = 'dark'; dispatchEvent(new Event('beforeprint'))")
    assert browser.run("return document.documentElement.dataset.theme") == "light"
    wide = browser.run("const c = document.querySelector('canvas.base'); return c.width / c.clientWidth")
    assert wide > 2.5
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("return document.documentElement.dataset.theme") == "dark"


def test_without_scripts_there_is_a_still_picture(network: tuple[tl.Overlay, Path]) -> None:
    text = network[1].read_text(encoding="utf-8")
    still = re.search(r'<noscript><svg class="still".*?</noscript>', text, re.DOTALL)
    assert still is not None
    assert still[0].count("<circle") == 80


def test_nothing_overflows_a_narrow_screen(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    browser.driver.set_window_size(500, 900)  # Chromium has no narrower window
    try:
        browser.open(network[1], "#broker=n001")
        assert browser.run("return document.documentElement.scrollWidth - innerWidth") <= 0
    finally:
        browser.driver.set_window_size(1440, 980)


def test_a_large_page_opens_and_is_drawn(browser: Browser, pages: Path) -> None:
    interest = tl.generate(nodes=5000, topics=500, subscriptions=10, seed=1)
    path = write(pages, "large", tl.design(interest, "weighted-gm"))
    assert path.stat().st_size < 1_000_000
    browser.open(path)
    browser.run("topicloom.picture.paint()")
    assert browser.complaints() == []


def test_a_screenshot_is_kept_to_be_looked_at(browser: Browser, network: tuple[tl.Overlay, Path], pages: Path) -> None:
    browser.open(network[1], "#fail=n001&fail=n002")
    browser.run("topicloom.picture.paint()")
    kept = pages / "what-breaks.png"
    assert browser.driver.save_screenshot(str(kept))
    assert kept.stat().st_size > 20_000


def test_data_are_read_as_they_were_packed(browser: Browser, network: tuple[tl.Overlay, Path]) -> None:
    overlay, page = network
    browser.open(page)
    o = browser.run(READ)
    a, b, start, items = json.loads(o)
    assert sorted(zip(a, b)) == sorted(map(tuple, overlay.links.tolist()))
    assert (start, items) == (overlay.interest.indptr.tolist(), overlay.interest.topics.tolist())


AXE = Path(__file__).parent / "vendored" / "axe.min.js"
STATES = ("", "#broker=n003", "#topic=t01", "#topic=t01&draw=tree", "#fail=n001&fail=n002")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("fragment", STATES)
def test_axe_finds_nothing_to_mend(
    browser: Browser, network: tuple[tl.Overlay, Path], pages: Path, fragment: str, theme: str
) -> None:
    """The policy of the page lets no foreign script in, so a copy without a policy is looked at."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", network[1].read_text(encoding="utf-8"))
    (pages / "open.html").write_text(text, encoding="utf-8")
    browser.open(pages / "open.html", fragment)
    browser.run(
        "document.documentElement.dataset.theme = arguments[0];"
        "for (const d of document.querySelectorAll('details')) d.open = true",
        theme,
    )
    browser.run(AXE.read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, { resultTypes: ['violations'] }).then((r) =>"
        "  done(r.violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html)])))"
    )
    assert found == []
