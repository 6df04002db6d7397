"""The usual ways are counted as the methods of their names build them."""

from hypothesis import given, settings

import topicloom as tl
from support.small_interests import interests
from topicloom.methods.references import beside


@settings(max_examples=100, deadline=None)
@given(interests())
def test_counts_are_those_of_the_overlays(interest):
    for name, counted in beside.usual_ways(interest).items():
        overlay = tl.design(interest, name)
        degree = overlay.degree()
        assert counted["links"] == overlay.n_links and counted["max_degree"] == degree.max(initial=0)
        assert counted["average_degree"] == (2 * overlay.n_links / interest.n_nodes if interest.n_nodes else 0.0)


def test_a_full_mesh_of_too_many_pairs_is_not_counted(monkeypatch):
    monkeypatch.setattr(beside, "_MOST_PAIRS", 3)
    assert set(beside.usual_ways(tl.datasets.example())) == {"ring-pt"}
