"""Methods with options, as the command line takes them."""

import pytest

import topicloom as tl
from topicloom.methods.selection import MethodChoice


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
