"""The checker of certificates stands alone. It accepts what is proved, and nothing that says what is false."""

import ast
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import topicloom as tl
from topicloom.errors import InvalidInterestError
from topicloom.judge import certificate_checker
from topicloom.judge.certificate_checker import CertificateError, check
from topicloom.methods.bounds import LowerBound, certificate_lines

CHECKER = Path(certificate_checker.__file__)


def pairs_of(interest: tl.Interest) -> list[tuple[str, str]]:
    topics = np.asarray(interest.topic_labels)[interest.topics].tolist()
    return list(zip(np.asarray(interest.node_labels)[interest.nodes].tolist(), topics))


def drawn(seed: int) -> tl.Overlay:
    popularity = ("uniform", "zipf", "exponential")[seed % 3]
    return tl.design(tl.generate(nodes=12, topics=5, subscriptions=2 + seed % 3, popularity=popularity, seed=seed))


def bounds_of(overlay: tl.Overlay) -> list[LowerBound]:
    """One bound of each kind that has one."""
    from topicloom.methods.bounds.search import found_pair_prices, found_potentials

    interest = overlay.interest
    potentials, whole = found_potentials(interest, 1)
    prices = found_pair_prices(interest, potentials, 1)
    found = {"potentials": whole, "pair prices": prices, "components": np.empty(0, np.int64)}
    bounds = []
    for kind, certificate in found.items():
        most = max(b for b in range(overlay.n_links + 1) if LowerBound(b, kind, certificate).check(interest))
        bounds.append(LowerBound(most, kind, certificate))
    return bounds


def test_the_checker_is_one_file_that_imports_nothing_of_ours() -> None:
    tree = ast.parse(CHECKER.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert len(CHECKER.read_text(encoding="utf-8").splitlines()) < 250


@pytest.mark.parametrize("seed", range(12))
def test_what_the_judge_proves_is_accepted_and_one_more_is_refused(seed: int) -> None:
    overlay = drawn(seed)
    pairs = pairs_of(overlay.interest)
    for bound in bounds_of(overlay):
        lines = list(certificate_lines(overlay, bound))
        assert check(lines, pairs) == (overlay.n_links, bound.links)
        raised = [f"bound {bound.links + 1}" if line.startswith("bound ") else line for line in lines]
        with pytest.raises(CertificateError, match="and proves"):
            check(raised, pairs)


def tampered(lines: list[str], draw: random.Random) -> list[str]:
    """Change one thing: a number, a line, a pair of lines, the order, a link."""
    lines = list(lines)
    place = draw.randrange(len(lines))
    kind = draw.randrange(6)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(place, lines[draw.randrange(len(lines))])
    elif kind == 2:
        other = draw.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        words = lines[place].split(" ")
        word = draw.randrange(len(words))
        changed = ["0", "1", "00", "-1", "1e3", "0*2", "", "99999999999999999999", str(draw.randrange(1 << 21))]
        if words[word].isdecimal() and kind > 3:
            words[word] = str(int(words[word]) + draw.choice([-1, 1, 2, 1000]))
        else:
            words[word] = draw.choice(changed)
        lines[place] = " ".join(words)
    return lines


def says_the_truth(lines: list[str], interest: tl.Interest, fewest: int) -> bool:
    """Whether the links connect every topic, and the bound is not above what is possible."""
    start = next(place for place, line in enumerate(lines) if line.startswith("links "))
    count = int(lines[start].split(" ")[1])
    links = [tuple(map(int, line.split(" "))) for line in lines[start + 1 : start + 1 + count]]
    return tl.verify(interest, np.array(links).reshape(-1, 2)).ok and int(lines[2].split(" ")[1]) <= fewest


def test_a_tampered_certificate_is_never_accepted_if_it_says_what_is_false() -> None:
    draw, accepted = random.Random(1), 0
    cases = []
    for seed in range(6):
        overlay = drawn(seed)
        fewest = tl.exact(overlay.interest).n_links
        cases += [(overlay, fewest, list(certificate_lines(overlay, bound))) for bound in bounds_of(overlay)]
    for case in range(10_000):
        overlay, fewest, lines = cases[case % len(cases)]
        changed = tampered(lines, draw)
        if changed == lines:
            continue
        try:
            check(changed, pairs_of(overlay.interest))
        except CertificateError:
            continue
        accepted += 1
        assert says_the_truth(changed, overlay.interest, fewest), changed
    assert accepted < 2_000  # a lower bound, or another price, may still be a proof


def test_a_pair_that_pays_one_too_much_is_refused() -> None:
    interest = tl.Interest.from_pairs(["a", "b", "a", "b"], ["s", "s", "t", "t"])
    overlay = tl.design(interest)
    half = certificate_checker.SCALE // 2
    for more, fits in ((0, True), (1, False)):
        bound = LowerBound(0, "components", np.empty(0, np.int64))
        lines = [line for line in certificate_lines(overlay, bound) if line != "end"]
        lines = [*lines[:-1], "prices pairs", str(half), str(half + more), "end"]
        lines[2] = "bound 1"
        if fits:
            assert check(lines, pairs_of(interest)) == (1, 1)
        else:
            with pytest.raises(CertificateError, match="more than"):
                check(lines, pairs_of(interest))


def test_other_subscriptions_are_refused() -> None:
    overlay = drawn(3)
    lines = list(certificate_lines(overlay, bounds_of(overlay)[0]))
    pairs = pairs_of(overlay.interest)
    with pytest.raises(CertificateError, match="for other subscriptions"):
        check(lines, pairs[1:])


def test_a_bound_of_another_interest_has_no_certificate() -> None:
    with pytest.raises(InvalidInterestError, match="another interest"):
        list(certificate_lines(drawn(1), LowerBound(99, "components", np.empty(0, np.int64))))


def test_the_file_runs_alone_on_files(tmp_path: Path) -> None:
    overlay = drawn(4)
    (tmp_path / "subs.csv").write_text("node,topic\n" + "".join(f"{v},{t}\n" for v, t in pairs_of(overlay.interest)))
    lines = certificate_lines(overlay, tl.lower_bound(overlay.interest))
    (tmp_path / "proof.txt").write_text("".join(f"{line}\n" for line in lines))
    command = [sys.executable, "-S", "-E", str(CHECKER), str(tmp_path / "proof.txt"), str(tmp_path / "subs.csv")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith(f"these {overlay.n_links} links connect every topic; no overlay has fewer than")
    (tmp_path / "proof.txt").write_text("topicloom certificate 1\n")
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 1
