"""Defect 3: a result is not true or false itself."""

import pytest

import topicloom as tl
from topicloom.errors import NoTruthValueError

FACTORY = tl.datasets.example()
RING = tl.ring_per_topic(FACTORY).links


@pytest.mark.parametrize("links", [RING, RING[:0]], ids=["holds", "broken"])
def test_the_truth_of_a_result_is_asked_by_ok(links):
    results = [
        tl.verify(FACTORY, links),
        tl.drill(FACTORY, links, fail=["gate"]),
        tl.random_drills(FACTORY, links, count=3),
        tl.soc(FACTORY, links, d=2, C=2),
    ]
    for result in results:
        assert isinstance(result.ok, bool)
        with pytest.raises(NoTruthValueError, match=r"use \.ok") as caught:
            bool(result)
        assert isinstance(caught.value, TypeError)
        with pytest.raises(TypeError):
            assert not result


def test_a_verdict_counts_its_broken_topics():
    verdict = tl.verify(FACTORY, [])
    assert verdict.broken_topics == len(verdict.broken) == 7
    assert verdict.to_dict()["broken_topics"] == 7
    assert tl.Verdict(False, 1, verdict.broken[:2], 7, broken_topics=7).broken_topics == 7
