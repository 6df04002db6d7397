"""What Python workers do beside their work."""

import gc

import pytest

from topicloom.spark import workers


@pytest.fixture
def unsettled(monkeypatch):
    monkeypatch.setattr(workers, "_settled", False)
    yield
    gc.unfreeze()


def test_a_settled_worker_does_not_search_what_it_has_loaded_for_garbage(unsettled):
    before = gc.get_freeze_count()
    workers.settle()
    assert gc.get_freeze_count() > before + 1_000
    assert len(gc.get_objects()) < 1_000


def test_a_worker_settles_once_and_still_collects_what_comes_later(unsettled):
    class Ring:
        pass

    workers.settle()
    frozen = gc.get_freeze_count()
    kept = Ring()
    kept.itself = kept
    workers.settle()
    assert gc.get_freeze_count() <= frozen
    del kept
    assert gc.collect() >= 1
