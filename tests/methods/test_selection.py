"""Methods with options, as the command line takes them."""

import pytest

import topicloom as tl
from topicloom.methods.automatic import choose_method
from topicloom.methods.registry import Size
from topicloom.methods.selection import MethodChoice, chosen


@pytest.mark.parametrize(
    ("text", "method", "options"),
    [
        ("gm", "gm", {}),
        (" low-oda:rho=2.5 ", "low-oda", {"rho": 2.5}),
        ("random-regular:d=6", "random-regular", {"d": 6}),
    ],
)
def test_choices(text: str, method: str, options: dict[str, object]) -> None:
    choice = MethodChoice.parse(text)
    assert (choice.text, choice.method, choice.options) == (text.strip(), method, options)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("best", "no method 'best'"),
        ("low-oda:rho=nan", "rho is 'nan'; a number from 1 up"),
        ("low-oda:rho=0", "rho is 0; a number from 1 up"),
        ("gm:rho=3", "gm has no option 'rho'"),
        ("low-oda:rho", "not of the form method:option=value"),
        ("low-oda:rho=", "not of the form method:option=value"),
    ],
)
def test_what_is_not_a_choice_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(tl.TopicloomError, match=complaint):
        MethodChoice.parse(text)


def test_auto_chooses_by_size_alone_and_gives_the_links_of_its_choice() -> None:
    sizes = {nodes: choose_method(Size(nodes, 10, 20 * nodes)) for nodes in (0, 10_000, 10_001, 10**7)}
    assert [choice.method for choice in sizes.values()] == ["weighted-gm", "weighted-gm", "rounds-gm", "rounds-gm"]
    small_topics = Size(nodes=20_000, topics=20_000, subscriptions=10**6)
    assert choose_method(small_topics).method == "weighted-gm"
    assert choose_method(small_topics._replace(topics=19_999)).method == "rounds-gm"
    interest = tl.generate(nodes=60, topics=10, subscriptions=3, seed=2)
    overlay = tl.design(interest, "auto", seed=5)
    assert overlay.method == "weighted-gm" and overlay == tl.weighted_greedy_merge(interest, seed=5)
    said: list[str] = []
    assert chosen("auto", Size(20_000, 10, 100_000), said.append) == "rounds-gm"
    assert said == [
        "auto: rounds-gm, because 20,000 nodes are more than 10,000: candidate links in rounds, not all pairs"
    ]
    assert chosen("gm", Size(20_000, 10, 100_000), said.append) == "gm" and len(said) == 1
