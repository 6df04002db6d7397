"""Overlay directories: what was written is read, what is damaged is refused, two are never mixed."""

import csv
import io
import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.errors import OverlayFormatError
from topicloom.files.write.run_file import update_run

OLD = sorted((Path(__file__).parents[1] / "data").glob("*-by-32e5662"))
SOME = tl.ring_per_topic(tl.Interest.from_pairs(list("aabbccddee"), list("xyxyxzxzyz")), seed=3)


@pytest.fixture
def folder(tmp_path):
    SOME.save(tmp_path / "o")
    return tmp_path / "o"


@pytest.fixture(params=[path.name for path in OLD])
def old(request, tmp_path):
    return shutil.copytree(OLD[0].parent / request.param, tmp_path / "old")


def split(part, *, keep=2):
    """Write the files of a part as two, as Spark would, and keep the first ones."""
    table = pq.read_table(part)
    for path in part.glob("*.parquet"):
        path.unlink()
    for number, rows in enumerate((table[:2], table[2:])[:keep]):
        pq.write_table(rows, part / f"part-{number}.parquet")


def refused(folder, sentence=None):
    with pytest.raises(OverlayFormatError, match=sentence) as caught:
        tl.Overlay.load(folder)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    return True


def test_directories_of_the_first_format_are_read():
    """They were written by commit 32e5662: by `Overlay.save`, with labels and with ids, and by ``topicloom design``."""
    loaded = {path.name.partition("-")[0]: tl.Overlay.load(path) for path in OLD}
    assert set(loaded) == {"designed", "ids", "saved"}
    assert loaded["designed"].interest == loaded["saved"].interest
    assert loaded["saved"].interest.node_labels.tolist() == ["crane", "lathe", "office", "oven", "press", "yard"]
    assert loaded["saved"].options["k"] == 2 and tl.verify(loaded["saved"].interest, loaded["saved"].links, 2).ok
    assert loaded["ids"].interest.n_topics == 11 and loaded["ids"].interest.node_labels is None
    assert all(tl.verify(one.interest, one.links).ok for one in loaded.values())


@pytest.mark.parametrize("part", ["links", "subscriptions", "nodes", "topics"])
def test_a_directory_that_lost_rows_is_refused(folder, old, part):
    """C7: also one of the first format, whose columns still say how many there were."""
    for damaged in (folder, old):
        split(damaged / part, keep=1)
        assert refused(damaged)


@pytest.mark.parametrize("part", ["links", "subscriptions", "nodes", "topics"])
def test_parts_in_several_files_are_one_table_and_repeated_rows_are_refused(old, part):
    before = tl.Overlay.load(old)
    split(old / part)
    assert tl.Overlay.load(old) == before
    shutil.copy(old / part / "part-0.parquet", old / part / "part-2.parquet")
    assert refused(old)


def test_a_new_directory_names_the_file_that_is_missing_added_or_changed(folder):
    path = folder / "links" / "part-00000.parquet"
    shutil.copy(path, folder / "links" / "more.parquet")
    assert refused(folder, "more.parquet was added")
    (folder / "links" / "more.parquet").unlink()
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    assert refused(folder, r"links/part-00000\.parquet was changed")
    path.unlink()
    assert refused(folder, r"links/part-00000\.parquet is missing")
    path.write_bytes(content)
    assert tl.Overlay.load(folder) == SOME


def test_a_missing_column_or_a_wrong_type_is_named(folder):
    for part, column in (("links", "src"), ("links", "order"), ("nodes", "id"), ("subscriptions", "topic")):
        path = folder / part / "part-00000.parquet"
        whole = pq.read_table(path)
        pq.write_table(whole.drop_columns([column]), path)
        update_run(folder)
        assert refused(folder, f"no column '{column}'")
        pq.write_table(whole, path)
    path = folder / "links" / "part-00000.parquet"
    table = pq.read_table(path)
    at = table.column_names.index("order")
    for wrong in (pa.array(["x"] * len(table)), pa.nulls(len(table), pa.int64())):
        pq.write_table(table.set_column(at, "order", wrong), path)
        update_run(folder)
        assert refused(folder, "order of links/")


def test_page_checksums_find_a_changed_byte_without_run_json(folder):
    """Of a directory whose ``run.json`` says nothing of its files, as other tools may write it."""
    path = folder / "subscriptions" / "part-00000.parquet"
    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({"format": 1, "labels": run["labels"]}))
    content = path.read_bytes()
    offset = pq.read_metadata(path).row_group(0).column(0).data_page_offset
    path.write_bytes(content[: offset + 40] + bytes([content[offset + 40] ^ 1]) + content[offset + 41 :])
    assert refused(folder, r"subscriptions/part-00000\.parquet is not readable")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "{}", '{"format": "1"}', '{"format": true}', '{"format": 1.0}', '{"format": 2}', "\xff",
     "[" * 100_000, '{"format": ' + "[" * 100_000,
     *('{"format": 1, ' + more + "}" for more in (
        '"labels": 3', '"options": []', '"options": null', '"report": null', '"method": 3', '"seed": "x"', '"seed": -1',
        '"seed": 99999999999999999999', '"verified": []', '"verified": {"k": "2"}', '"options": {"k": "2"}',
        '"options": {"rho": "x"}', '"options": {"rho": NaN}', '"options": {"k": 0}', '"counts": 3',
        '"counts": {"links": "3"}', '"counts": {"links": 99}', '"files": []', '"files": {"links/a": 3}', '"files": {}',
        '"labels": false',
     ))],
)  # fmt: skip
def test_an_odd_run_json_is_a_sentence(folder, text, capsys):
    """U4."""
    (folder / "run.json").write_text(text, encoding="latin-1")
    assert refused(folder)
    for command in ("drill", "status"):
        assert main([command, str(folder)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "unexpectedly" not in said


def test_a_spreadsheet_opens_the_links_and_no_name_is_run_as_a_formula(tmp_path):
    awkward = ["ä;b", 'say "x"', "two\nlines", "plain"]
    tl.design(tl.Interest.from_pairs(awkward, ["t"] * 4), "ring-pt").save(tmp_path / "o")
    content = (tmp_path / "o" / "links.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbfsrc,dst,shared_topics\r\n")  # the mark by which a spreadsheet knows UTF-8
    overlay = tl.Overlay.load(tmp_path / "o")
    assert tl.verify(overlay.interest, tl.read_links(tmp_path / "o" / "links.csv").table).ok
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))[1:]
    assert [tuple(row[:2]) for row in rows] == [tuple(map(overlay.interest.node_label, pair)) for pair in overlay.links]
    tl.design(tl.Interest.from_pairs(["=1+1", "b"], ["t", "t"])).save(tmp_path / "formula")
    assert not (tmp_path / "formula" / "links.csv").exists()


def test_an_edited_run_json_is_noticed(folder):
    path = folder / "run.json"
    path.write_text(path.read_text().replace('"seed": 3', '"seed": 4'))
    assert refused(folder, "run.json was changed")


def test_every_changed_byte_of_a_directory_is_noticed_or_does_no_harm(folder):
    """A byte of every file that `load` reads, at 150 places drawn by a seed."""
    draw = random.Random(5)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.parent.name != "rejected"]
    files = [path for path in files if path.name not in ("metrics.json", "links.csv")]
    for _ in range(150):
        path = draw.choice(files)
        content = bytearray(path.read_bytes())
        at = draw.randrange(len(content))
        whole, content[at] = bytes(content), content[at] ^ (1 << draw.randrange(8))
        path.write_bytes(content)
        try:
            loaded = tl.Overlay.load(folder)
        except OverlayFormatError as error:
            assert "\n" not in str(error)
        else:
            assert loaded == SOME and (loaded.method, loaded.options, loaded.seed) == ("ring-pt", {}, 3)
        path.write_bytes(whole)


def test_a_load_while_another_overlay_is_saved_gives_one_or_the_other(tmp_path):
    """C1: the reproduction of reliability.md, for 300 loads or more."""
    a = tl.Interest.from_pairs(list("abcdef"), ["t"] * 6)
    b = tl.Interest.from_pairs(list("abcdefabc"), ["t"] * 6 + ["u"] * 3)
    first = tl.Overlay(a, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], "A")
    second = tl.Overlay(b, [(0, 5), (5, 1), (1, 4), (4, 2), (2, 3)], "B")
    out = tmp_path / "o"
    second.save(out)
    first.save(out, overwrite=True)  # the kernels are compiled: the writer would be killed before it is done with that
    writer = os.fork()
    if writer == 0:
        while True:
            second.save(out, overwrite=True)
            first.save(out, overwrite=True)
    try:
        seen, deadline = [tl.Overlay.load(out)], time.monotonic() + 60
        while len(seen) < 300 or (len({one.method for one in seen}) < 2 and time.monotonic() < deadline):
            seen.append(tl.Overlay.load(out))  # where cores are few the writer may come late
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    assert {one.method for one in seen} == {"A", "B"}
    assert all(one == (first if one.method == "A" else second) for one in seen)


def test_a_directory_whose_name_is_not_utf_8_is_written_and_read(tmp_path, capsys):
    """U7."""
    names = [os.fsdecode(os.fsencode(tmp_path) + tail) for tail in (b"/o\xff", b"/p\xff", b"/both\xff")]
    SOME.save(names[0])
    tl.Overlay(tl.Interest.from_pairs(["f", "g"], ["x", "x"]), [(0, 1)]).save(names[1])
    assert tl.Overlay.load(names[0]) == SOME
    assert main(["join", names[2], *names[:2]]) == 0
    assert main(["drill", names[2], "--json"]) == 1
    assert "\\udcff" in capsys.readouterr().err


def test_values_of_numpy_and_infinity_are_saved(tmp_path):
    """U3."""
    interest = SOME.interest
    tl.design(interest, "ring-pt", seed=np.int64(2)).save(tmp_path / "a")
    tl.design(interest, "harary-pt", k=np.int32(2), seed=np.uint8(1)).save(tmp_path / "b")
    loaded = tl.Overlay.load(tmp_path / "b")
    assert (loaded.seed, loaded.options["k"]) == (1, 2)
    assert tl.Overlay.load(tmp_path / "a").seed == 2
