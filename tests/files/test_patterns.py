"""One rule says which names a pattern matches: pair by pair, for all topics that are known, and for many filters."""

import re

from hypothesis import given
from hypothesis import strategies as st

from topicloom.brokers.auditing.filters import FilterTree, is_filter
from topicloom.files.read.patterns import GRAMMARS, MQTT, NATS, Patterns


def texts(grammar, *more):
    levels = st.sampled_from(["a", "b", "$c", *([""] if grammar is MQTT else []), *more])
    return st.lists(levels, min_size=1, max_size=4).map(grammar.between.join).filter(bool)


def as_expression(grammar, pattern):
    """The pattern as a regular expression: an independent twin of `Grammar.matches`."""
    between, level = re.escape(grammar.between), f"[^{re.escape(grammar.between)}]*"
    found = ""
    for place, part in enumerate(pattern.split(grammar.between)):
        lead = between if place else ""
        if part == grammar.rest:
            rest = f"{level}({between}{level})*"
            found += rest if not place else f"({between}{rest})" + ("?" if grammar is MQTT else "")
        else:
            found += lead + (level if part == grammar.one else re.escape(part))
    starts = r"(?!\$)" if grammar is MQTT and pattern.split("/")[0] in ("+", "#") else ""
    return re.compile(starts + found)


@given(st.data(), st.sampled_from(sorted(GRAMMARS)))
def test_all_ways_of_matching_agree_with_a_regular_expression(data, name):
    grammar = GRAMMARS[name]
    names = data.draw(st.lists(texts(grammar), max_size=8, unique=True))
    pattern = data.draw(texts(grammar, grammar.one, grammar.rest))
    patterns = Patterns(name, names)
    if patterns.problem(pattern) is not None:
        return
    matched = [one for one in names if as_expression(grammar, pattern).fullmatch(one)]
    assert [one for one in names if grammar.matches(pattern, one)] == matched
    assert patterns.matches(pattern) == sorted(matched)


@given(st.lists(texts(MQTT, "+", "#"), max_size=8), st.lists(texts(MQTT), max_size=5))
def test_an_index_of_filters_finds_those_that_match(patterns, names):
    patterns = [pattern for pattern in patterns if is_filter(pattern)]
    tree = FilterTree()
    for number, pattern in enumerate(patterns):
        tree.add(pattern, number)
    for name in names:
        assert sorted(tree.met(name)) == [n for n, pattern in enumerate(patterns) if MQTT.matches(pattern, name)]


def test_nats_takes_signs_within_a_token_as_they_are():
    assert NATS.misplaced(["a*", "b"]) is None and MQTT.misplaced(["a+", "b"]) == "+ and # stand alone between two /"
