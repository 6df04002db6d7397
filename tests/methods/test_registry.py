import json

import pytest

import topicloom as tl
from topicloom.errors import InvalidOptionError


def test_every_method_says_what_it_is():
    for name, spec in tl.METHODS.items():
        assert name == spec.name
        assert spec.problem and spec.guarantee and spec.cost and spec.paper
        assert json.loads(json.dumps(spec.to_dict()))["name"] == name


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        tl.METHODS["mine"] = None


def test_unknown_methods_and_options_are_refused_with_those_there_are():
    interest = tl.Interest.from_pairs(["a"], ["x"])
    with pytest.raises(InvalidOptionError, match="ring-pt"):
        tl.design(interest, "best")
    with pytest.raises(InvalidOptionError, match=r"low-oda has no option 'k'; its options: rho"):
        tl.design(interest, "low-oda", k=3)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True, None])
@pytest.mark.parametrize("method", list(tl.METHODS))
def test_bad_seeds_are_refused(method, seed):
    with pytest.raises(InvalidOptionError, match="seed is"):
        tl.design(tl.Interest.from_pairs(["a"], ["x"]), method, seed=seed)


@pytest.mark.parametrize("method", list(tl.METHODS))
def test_tiny_interests(method):
    assert tl.design(tl.Interest.from_pairs([], []), method).n_links == 0
    assert tl.design(tl.Interest.from_pairs(["a"], ["x"]), method).n_links == 0
    assert tl.design(tl.Interest.from_pairs(["a", "b"], ["x", "x"]), method).links.tolist() == [[0, 1]]


def test_methods_say_how_tasks_share_them():
    def those_that(fact):
        return {name for name, spec in tl.METHODS.items() if getattr(spec, fact)}

    assert those_that("divides") == {"dc"}
    assert those_that("in_rounds") == {"rounds-gm"}
    assert those_that("resumable") == {"auto", "dc", "rounds-gm"}
