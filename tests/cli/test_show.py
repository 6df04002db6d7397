"""``topicloom show`` writes one page, whole or not at all."""

import json
import re
from pathlib import Path

import pytest

import topicloom as tl
from topicloom.cli.app import main


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    tl.design(tl.datasets.example()).save(tmp_path / "overlay")
    return tmp_path / "overlay"


def data(page: Path) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def test_an_overlay_becomes_a_page(overlay: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(overlay), str(tmp_path / "page.html")]) == 0
    found = data(tmp_path / "page.html")
    assert found["nodes"] == [str(name) for name in tl.datasets.example().node_labels]
    assert found["tree"] is None
    assert "open it in any browser" in capsys.readouterr().err


def test_a_page_is_replaced_only_when_asked(overlay: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert main(["show", str(overlay), str(page)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert main(["show", str(overlay), str(page), "--overwrite"]) == 0


def test_a_plan_is_drawn_with_its_trees(overlay: Path, tmp_path: Path) -> None:
    assert main(["routes", str(overlay), str(tmp_path / "plan")]) == 0
    assert main(["show", str(overlay), str(tmp_path / "a.html"), "--plan", str(tmp_path / "plan")]) == 0
    assert main(["show", str(tmp_path / "plan"), str(tmp_path / "b.html")]) == 0
    assert data(tmp_path / "a.html")["tree"] == data(tmp_path / "b.html")["tree"] is not None


def test_a_plan_of_another_overlay_is_refused(
    overlay: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tl.design(tl.datasets.example(), "ring-pt").save(tmp_path / "ring")
    assert main(["routes", str(tmp_path / "ring"), str(tmp_path / "plan")]) == 0
    assert main(["show", str(overlay), str(tmp_path / "page.html"), "--plan", str(tmp_path / "plan")]) == 2
    assert "is not a plan of this overlay" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_before_sites_and_comparison_are_shown(overlay: Path, tmp_path: Path) -> None:
    names = [str(name) for name in tl.datasets.example().node_labels]
    rows = "".join(
        f"{name},127.0.0.1,{1883 + place},{'north' if place % 2 else 'south'}\n" for place, name in enumerate(names)
    )
    (tmp_path / "brokers.csv").write_text("node,host,port,site\n" + rows)
    tl.design(tl.datasets.example(), "ring-pt").save(tmp_path / "ring")
    compared = {"results": [{"name": "gm", "links": 7, "broken_topics": 0, "survives_one_failure": False}]}
    (tmp_path / "comparison").mkdir()
    (tmp_path / "comparison" / "results.json").write_text(json.dumps(compared))
    page = tmp_path / "page.html"
    given = [
        "--before",
        tmp_path / "ring",
        "--inventory",
        tmp_path / "brokers.csv",
        "--compare",
        tmp_path / "comparison",
    ]
    assert main(["show", str(overlay), str(page), *map(str, given), "--title", "our <net>"]) == 0
    found = data(page)
    assert sorted(found["groups"]) == ["north", "south"]  # type: ignore[call-overload]
    assert found["before"] is not None
    text = page.read_text("utf-8")
    assert "What else you could have" in text
    assert "our &lt;net&gt;" in text


def test_an_overlay_shows_itself_in_a_notebook() -> None:
    page = tl.design(tl.datasets.example()).show(title="<b>")
    assert page._repr_html_().startswith('<iframe sandbox="allow-scripts"')
    assert "<b>" not in page._repr_html_()
