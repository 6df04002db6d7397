"""A plan is a folder that comes back as it was written."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topicloom as tl
from support.route_twins import labelled, overlays
from topicloom.errors import InputNotFoundError, OutputExistsError, PlanFormatError

SMALL = tl.design(tl.Interest.from_pairs(list("abcab"), list("xxxyy")), "gm")


@settings(max_examples=25)
@given(overlays(), st.booleans())
def test_a_plan_comes_back_as_it_was_written(tmp_path_factory, overlay, named):
    overlay = labelled(overlay) if named else overlay
    plan = tl.Plan(tl.routes(overlay), target="mosquitto", inventory_fingerprint="abc", facts={"made_by": "me"})
    folder = tmp_path_factory.mktemp("plan") / "plan"
    plan.save(folder)
    back = tl.Plan.load(folder)
    assert (back.target, back.inventory_fingerprint, back.facts) == ("mosquitto", "abc", {"made_by": "me"})
    assert back.generation == plan.generation
    for name in ("links", "topic", "src", "dst", "owner", "parent", "forest", "active", "order", "exact"):
        np.testing.assert_array_equal(getattr(back.routes, name), getattr(plan.routes, name))
        assert getattr(back.routes, name).dtype == getattr(plan.routes, name).dtype
    np.testing.assert_array_equal(back.interest.topics, plan.interest.topics)
    np.testing.assert_array_equal(back.routes.link_owners, plan.routes.link_owners)
    assert back.routes.verify().ok


def test_any_parquet_reader_sees_rows_by_label(tmp_path):
    tl.Plan(tl.routes(SMALL)).save(tmp_path / "plan")
    rows = pq.read_table(tmp_path / "plan" / "routes")
    assert rows.column_names == ["topic", "src", "dst", "owner", "parent", "forest", "active"]
    assert set(rows["topic"].to_pylist()) == {"x", "y"}
    assert rows["forest"].null_count == len(rows)
    header = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert header["counts"] == {"nodes": 3, "topics": 2, "links": 2, "rows": 3, "standby": 0, "forests": 0}


def test_the_same_rows_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        tl.Plan(tl.routes(SMALL)).save(tmp_path / name)
    for file in sorted((tmp_path / "one").rglob("*.*")):
        assert file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes()


def test_a_plan_is_not_replaced_unasked(tmp_path):
    plan = tl.Plan(tl.routes(SMALL))
    plan.save(tmp_path / "plan")
    with pytest.raises(OutputExistsError):
        plan.save(tmp_path / "plan")
    plan.save(tmp_path / "plan", overwrite=True)


def test_folders_that_are_no_plans_are_refused(tmp_path):
    with pytest.raises(InputNotFoundError):
        tl.Plan.load(tmp_path / "nowhere")
    with pytest.raises(PlanFormatError, match=r"plan\.json"):
        tl.Plan.load(tmp_path)
    (tmp_path / "plan.json").write_text('{"format": 99}')
    with pytest.raises(PlanFormatError, match="format 99"):
        tl.Plan.load(tmp_path)


def test_a_plan_with_a_row_of_an_unknown_node_is_refused(tmp_path):
    tl.Plan(tl.routes(SMALL)).save(tmp_path / "plan")
    file = next((tmp_path / "plan" / "routes").glob("*.parquet"))
    table = pq.read_table(file).to_pandas()
    table.loc[0, "src"] = "stranger"
    table.to_parquet(file)
    with pytest.raises(PlanFormatError, match="does not list"):
        tl.Plan.load(tmp_path / "plan")
