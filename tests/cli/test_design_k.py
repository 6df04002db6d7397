"""``--k``: which method it takes, which it refuses, and that the result is judged at it."""

import json

import pytest

import topicloom as tl
from topicloom.cli.app import main


@pytest.fixture
def subscriptions(tmp_path):
    path = tmp_path / "subscriptions.csv"
    rows = [f"n{v},t{t}" for v in range(12) for t in range(4) if (v + t) % 3]
    path.write_text("node,topic\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(("k", "method"), [(1, "gm"), (2, "stacked-gm"), (3, "harary-pt"), (5, "harary-pt")])
def test_k_alone_chooses_the_method(shared_session, subscriptions, tmp_path, capsys, k, method):
    assert main(["design", str(subscriptions), str(tmp_path / "out"), "--k", str(k)]) == 0
    said = capsys.readouterr()
    assert f"k = {k}: designing with {method}" in said.err
    assert "verified" in said.err
    overlay = tl.Overlay.load(tmp_path / "out")
    assert overlay.method == method
    assert tl.verify(overlay.interest, overlay.links, k).ok
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["verified"] == {"k": k, "ok": True, "broken_topics": 0}
    assert run["options"] == ({} if method == "gm" else {"k": k})
    assert overlay.links.tolist() == tl.design(overlay.interest, k=k).links.tolist()


def test_a_method_with_its_own_k_gets_it(shared_session, subscriptions, tmp_path, capsys):
    out = str(tmp_path / "out")
    arguments = ["--method", "harary-pt", "--k", "4", "--sequence", "similarity"]
    assert main(["design", str(subscriptions), out, *arguments]) == 0
    overlay = tl.Overlay.load(out)
    assert overlay.options == {"k": 4, "sequence": "similarity"}
    assert overlay.links.tolist() == tl.design(overlay.interest, "harary-pt", k=4, sequence="similarity").links.tolist()
    assert main(["design", str(subscriptions), out, "--method", "harary-pt", "--overwrite"]) == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["verified"]["k"] == 2
    assert main(["design", str(subscriptions), out, "--method", "repeated-gm", "--k", "2", "--overwrite"]) == 0


@pytest.mark.parametrize(("method", "k"), [("gm", 2), ("low-oda", 2), ("gm2", 3), ("cycle-pt", 3)])
def test_refuses_what_a_method_cannot_reach(subscriptions, tmp_path, capsys, method, k):
    assert main(["design", str(subscriptions), str(tmp_path / "out"), "--method", method, "--k", str(k)]) == 2
    said = capsys.readouterr().err
    assert f"not {k}; these reach {k}: " in said
    assert "harary-pt" in said
    assert ("gm2" in said.split("these reach")[1]) == (k == 2)
    assert "repeated-gm" not in said


@pytest.mark.parametrize("k", ["0", "-1"])
def test_refuses_a_k_below_one(subscriptions, tmp_path, capsys, k):
    assert main(["design", str(subscriptions), str(tmp_path / "out"), "--k", k]) == 2
    assert "a whole number from 1 up is accepted" in capsys.readouterr().err
