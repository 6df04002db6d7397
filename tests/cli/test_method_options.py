"""A method's options are on the command line with the help of its docstring: one file with ``@method`` is enough."""

import json
import re
from typing import Optional

import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.cli.method_options import MethodOptions, described
from topicloom.errors import InvalidOptionError
from topicloom.methods import registry


def twisted(
    interest: tl.Interest,
    *,
    twist: int = 3,
    turn_by: int | str = "auto",
    sharp: bool = False,
    loose_end: bool = True,
    limit: Optional[float] = None,  # noqa: UP045 - written by others
    weight: "int | None" = None,
    seed: int = 0,
) -> tl.Overlay:
    """A ring per topic.

    Parameters
    ----------
    interest : Interest
    twist : int
        How often each ring is `twisted`, e.g.
        by hand. Nobody sees it.
    turn_by : int or "auto"
        Degrees of a turn.
    sharp, loose_end : bool
        Whether it hurts.
    limit : float, optional
        HTTP says no more.
    weight
    seed : int

    Returns
    -------
    Overlay
    """
    if limit is not None and limit < 0:
        raise InvalidOptionError(f"limit is {limit}")
    links = tl.ring_per_topic(interest, seed=seed).links
    options = {"twist": twist, "turn_by": turn_by, "sharp": sharp, "loose_end": loose_end, "limit": limit}
    return tl.Overlay(interest, links, "twisted", options, seed)


@pytest.fixture
def twisted_method():
    facts = {"problem": "none", "guarantee": "none", "cost": "none", "paper": "none"}
    registry.method("twisted", memory=lambda size, options: 0, **facts)(twisted)
    yield
    registry._SPECS.pop("twisted")


def options_of_methods(capsys):
    """The options under that heading of the help page, each with its help in one line."""
    assert main(["design", "--help"]) == 0
    _, _, below = capsys.readouterr().out.partition("Options of single methods:\n")
    entries = re.split(r"\n  (?=-)", "\n" + below.partition("\n\n")[0])
    return {entry.split()[0]: " ".join(re.sub(r"-\n +", "-", entry).split()) for entry in entries if entry.strip()}


def test_a_new_method_has_its_options_on_the_command_line(twisted_method, capsys):
    shown = options_of_methods(capsys)
    assert shown["--twist"].endswith(" twisted: how often each ring is twisted, e.g. by hand. [default: 3]")
    assert shown["--turn-by"].endswith("twisted: degrees of a turn (int or auto). [default: auto]")
    assert shown["--sharp"] == "--sharp / --no-sharp twisted: whether it hurts. [default: no-sharp]"
    assert shown["--loose-end"] == "--loose-end / --no-loose-end twisted: whether it hurts. [default: loose-end]"
    assert shown["--limit"] == "--limit <float> twisted: HTTP says no more."
    assert shown["--weight"] == "--weight <int> twisted: weight."


def test_options_of_a_new_method_reach_it(twisted_method, tmp_path, capsys):
    (tmp_path / "subs.csv").write_text("node,topic\na,x\nb,x\nc,x\n")
    command = ["design", str(tmp_path / "subs.csv"), str(tmp_path / "out"), "--engine", "memory", "--method", "twisted"]
    assert main([*command, "--twist", "5", "--turn-by", "90", "--no-loose-end", "--limit", "1.5"]) == 0
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["options"] == {"twist": 5, "turn_by": 90, "loose_end": False, "limit": 1.5}
    assert main([*command, "--overwrite", "--turn-by", "left", "--limit", "-1"]) == 2
    assert "limit is -1.0" in capsys.readouterr().err
    assert main([*command, "--overwrite", "--orders", "5"]) == 2
    assert "twisted has no option 'orders'" in capsys.readouterr().err


def test_an_option_of_an_unregistered_method_is_gone(capsys):
    assert "--twist" not in options_of_methods(capsys)


def test_every_option_of_a_method_has_a_help_from_its_docstring():
    for spec in tl.METHODS.values():
        entries = described(spec.function)
        for name in spec.options:
            assert entries[name].sentence, f"{spec.name} does not say what {name} is"


def test_an_option_of_several_methods_is_explained_by_the_one_it_matters_most_to(capsys):
    shown = options_of_methods(capsys)
    assert "low-oda, weighted-gm, rounds-gm, dc: how much contribution may be given up" in shown["--rho"]
    assert shown["--rho"].endswith("[default: 3 with low-oda]")
    assert shown["--weighted"].startswith("--weighted / --unweighted rounds-gm: ")
    assert shown["--weighted"].endswith("[default: weighted]")


def test_options_of_methods_are_none_unless_given():
    assert {option.default for option in MethodOptions.parameters()} == {None}
    assert MethodOptions.of(partitions=None, rho=None).given == {}
    assert MethodOptions.of(partitions="12", inner="gm2", block=7).given == {
        "partitions": 12, "inner": "gm2", "block": 7,
    }  # fmt: skip
    assert MethodOptions.of(partitions="auto").given == {"partitions": "auto"}
