"""``topicloom bound`` writes a proof, and ``topicloom check`` reads it."""

from pathlib import Path

import pytest

import topicloom as tl
from topicloom.cli.app import main


@pytest.mark.parametrize("name", ["proof.txt", "proof.txt.gz"])
def test_a_proof_is_written_and_checked(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tl.design(tl.datasets.example()).save(tmp_path / "overlay")
    proof = str(tmp_path / name)
    assert main(["bound", str(tmp_path / "overlay"), "--certificate", proof]) == 0
    assert "the fewest links possible (certified)" in capsys.readouterr().out
    assert main(["check", proof, str(tmp_path / "overlay")]) == 0
    assert capsys.readouterr().out == "these 7 links connect every topic; no overlay has fewer than 7\n"
    assert main(["bound", str(tmp_path / "overlay"), "--certificate", proof]) == 2


def test_a_proof_for_other_subscriptions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tl.design(tl.datasets.example()).save(tmp_path / "overlay")
    assert main(["bound", str(tmp_path / "overlay"), "--certificate", str(tmp_path / "proof.txt")]) == 0
    (tmp_path / "other.csv").write_text("node,topic\na,t\nb,t\n")
    capsys.readouterr()
    assert main(["check", str(tmp_path / "proof.txt"), str(tmp_path / "other.csv")]) == 1
    assert capsys.readouterr().out.startswith("refused: it is for other subscriptions")


def test_what_is_no_certificate_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "proof.txt.gz").write_bytes(b"not packed")
    (tmp_path / "subs.csv").write_text("node,topic\na,t\nb,t\n")
    assert main(["check", str(tmp_path / "proof.txt.gz"), str(tmp_path / "subs.csv")]) == 2
    assert "is not a certificate" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "none"), str(tmp_path / "subs.csv")]) == 2
    assert "does not exist" in capsys.readouterr().err
