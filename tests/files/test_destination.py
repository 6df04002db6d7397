"""C10: what may be replaced is what topicloom wrote, and never an input or the working directory."""

import pytest

import topicloom as tl
from topicloom.cli.app import main
from topicloom.errors import OutputExistsError
from topicloom.files.write.destination import check_destination, not_our_subscriptions


@pytest.fixture
def overlay():
    return tl.ring_per_topic(tl.Interest.from_pairs(list("aabbccdd"), list("xyxyxzxz")))


def test_a_folder_that_topicloom_did_not_write_is_kept(overlay, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("x")
    with pytest.raises(OutputExistsError, match=r"no run\.json that topicloom wrote"):
        overlay.save(tmp_path / "precious", overwrite=True)
    assert (tmp_path / "precious" / "thesis.tex").read_text() == "x"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"versions": []}', '{"versions": {"other": "1"}}', "[" * 100_000])
def test_a_run_json_of_another_program_is_no_consent(overlay, tmp_path, text):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "run.json").write_text(text)
    with pytest.raises(OutputExistsError, match="not replaced"):
        overlay.save(tmp_path / "precious", overwrite=True)


def test_a_file_that_was_put_into_an_overlay_directory_is_kept(overlay, tmp_path):
    overlay.save(tmp_path / "o")
    (tmp_path / "o" / "notes.md").write_text("mine")
    with pytest.raises(OutputExistsError, match=r"notes\.md"):
        overlay.save(tmp_path / "o", overwrite=True)
    assert (tmp_path / "o" / "notes.md").read_text() == "mine"


def test_an_empty_folder_may_be_replaced(overlay, tmp_path):
    (tmp_path / "o").mkdir()
    overlay.save(tmp_path / "o", overwrite=True)
    assert tl.Overlay.load(tmp_path / "o").n_links == overlay.n_links


def test_the_working_directory_and_what_holds_it_are_kept(overlay, tmp_path, monkeypatch):
    overlay.save(tmp_path / "o")
    (tmp_path / "o" / ".inside").mkdir()
    for place in (tmp_path / "o", tmp_path / "o" / ".inside"):
        monkeypatch.chdir(place)
        with pytest.raises(OutputExistsError, match="working directory"):
            overlay.save(tmp_path / "o", overwrite=True)


def test_a_destination_that_is_holds_or_lies_in_an_input_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("")
    (tmp_path / "way").symlink_to(tmp_path / "data")
    for out, given in (("data", "data/a.csv"), ("data", "data/*.csv"), ("data/out", "data"), ("way/out", "data"),
                       ("data/out", "way"), ("data", "way/a.csv"), ("data", "way")):  # fmt: skip
        with pytest.raises(OutputExistsError, match="input"):
            check_destination(tmp_path / out, overwrite=True, inputs=[tmp_path / given], ours=lambda folder: None)
    for out, given in (("data/out", "data/a.csv"), ("out", "data"), ("out", "s3a://data"), ("data2", "data")):
        check_destination(tmp_path / out, overwrite=True, inputs=[str(given)], ours=lambda folder: None)


def test_a_destination_that_another_writer_moves_away_meanwhile_is_no_obstacle(tmp_path):
    out = tmp_path / "out"
    out.mkdir()

    def looks_too_late(folder):
        out.rmdir()
        return not_our_subscriptions(folder)

    check_destination(out, overwrite=True, ours=looks_too_late)
    (tmp_path / "file").write_text("no folder")
    for place in ("file", "file/below"):
        with pytest.raises(OutputExistsError):
            check_destination(tmp_path / place, overwrite=True)


def test_generate_replaces_nothing_but_its_own_tables(tmp_path, capsys):
    out = tmp_path / "subs"
    arguments = ["generate", str(out), "--nodes", "10", "--topics", "3", "--subscriptions", "2"]
    assert main(arguments) == 0
    assert main(arguments) == 2 and "--overwrite" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0
    (out / "notes.txt").write_text("mine")
    assert main([*arguments, "--overwrite"]) == 2 and "notes.txt" in capsys.readouterr().err
    assert (out / "notes.txt").read_text() == "mine"
    assert not_our_subscriptions(tmp_path) is not None


def test_commands_refuse_to_replace_their_inputs(overlay, tmp_path, capsys, monkeypatch):
    """No Spark is started: the destination is looked at first."""
    monkeypatch.chdir(tmp_path)
    overlay.save("data/ov")
    (tmp_path / "data" / "events.jsonl").write_text('{"event": "leave", "node": "a"}\n')
    (tmp_path / "subs.csv").write_text("node,topic\na,x\nb,x\n")
    for arguments in (
        ["design", "subs.csv", "."],
        ["compare", "subs.csv", "."],
        ["design", "data/ov", "data/ov"],
        ["churn", "data/ov", "data/events.jsonl", "data"],
        ["churn", "data/ov", "data/events.jsonl", "data/ov"],
        ["join", "data/ov", "data/ov", "data/ov"],
        ["generate", "."],
    ):
        assert main([*arguments, "--overwrite"]) == 2, arguments
        assert capsys.readouterr().err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "subs.csv"]
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["events.jsonl", "ov"]


def test_a_place_below_a_file_is_refused_in_one_sentence(overlay, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputExistsError, match="cannot write"):
        overlay.save(tmp_path / "file" / "out")
