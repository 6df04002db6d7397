"""Links, files, options, keys and public names are those of tests/data/golden.json (tools/golden.py writes it)."""

import json
from pathlib import Path

import pytest

from support import golden_runs

GOLDEN = json.loads(golden_runs.GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("part", "found"), [("links", golden_runs.links), ("later links", golden_runs.later_links)])
def test_links_their_order_and_ids_are_as_they_were(part, found):
    assert found() == GOLDEN[part]


def test_overlay_directories_hold_what_they_held(tmp_path):
    assert golden_runs.designed(tmp_path, "memory") == GOLDEN["overlays"]


def test_plans_exports_and_keys_of_json_are_as_they_were(tmp_path):
    found = golden_runs.files_and_keys(tmp_path)
    for part in ("plans", "exports", "json"):
        assert found[part] == GOLDEN[part]


@pytest.mark.parametrize("engine", ["spark", "distributed"])
def test_every_engine_writes_what_memory_wrote(shared_session, tmp_path, engine):
    assert golden_runs.designed(tmp_path, engine) == GOLDEN["overlays"]


def test_commands_have_the_options_that_they_had():
    """In whatever order they stand on the help page; a new method or command may add some."""
    found = golden_runs.options()
    for command, options in GOLDEN["options"].items():
        assert set(options) <= set(found[command]), command


def test_public_names_are_as_they_were():
    assert golden_runs.public_names() == GOLDEN["public names"]


def test_old_overlays_and_state_files_load(tmp_path):
    assert len(golden_runs.OLD_OVERLAYS) == 3 and len(golden_runs.OLD_STATES) == 1
    assert golden_runs.old_files(tmp_path) == GOLDEN["old files"]


def test_the_page_of_results_comes_out_of_the_stored_cells(tmp_path):
    committed = Path(golden_runs.ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert golden_runs.results_page(tmp_path) == committed
