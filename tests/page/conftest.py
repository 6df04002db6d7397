"""A real browser for tests: Debian's Chromium, driven by Debian's chromium-driver of the same version."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-component-update", "--disable-sync", "--disable-background-networking",
    "--force-prefers-reduced-motion", "--window-size=1440,980",
)  # fmt: skip
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


class Browser:
    """Opens pages, and remembers what they did: console, exceptions, requests."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, fragment: str = "") -> "Browser":
        self.driver.get("about:blank")  # a new fragment alone would not load the page again
        self.complaints()
        self.requests()
        self.driver.get(f"{page.absolute().as_uri()}{fragment}")
        self.wait("return document.documentElement.dataset.ready === 'yes'")
        return self

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, seconds: float = 60) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, seconds, 0.05).until(lambda driver: driver.execute_script(script))

    def find(self, css: str) -> Any:
        return self.driver.find_element("css selector", css)

    def complaints(self) -> list[str]:
        """Errors and warnings of the console. Exceptions and violations of the policy are among them."""
        entries = self.driver.get_log("browser")
        return [f"{e['level']} {e['message']}" for e in entries if e["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """What the page asked for, itself left out."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        asked += [e["params"]["url"] for e in events if e["method"] == "Network.webSocketCreated"]
        return [url for url in asked if not url.endswith(".html") and ".html#" not in url and url != "about:blank"
                and not url.startswith("data:,")]  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None or DRIVER is None:
        assert not os.environ.get("CI"), "CI has no browser; make installs chromium and chromium-driver"
        pytest.skip("no chromium and chromium-driver; make browser installs them")
    os.environ |= {"SE_OFFLINE": "true", "SE_AVOID_STATS": "true"}  # Selenium never asks the network
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = CHROMIUM
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield Browser(driver)
    driver.quit()
