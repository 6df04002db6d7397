"""Every file that was made by hand is read as its author meant, or refused with a sentence."""

import sys

import pyarrow as pa
import pytest

from files.hand_made import ALL
from topicloom import errors
from topicloom.files.read import read_subscriptions


def test_there_are_many():
    assert len(ALL) >= 60
    assert len({one.name for one in ALL}) == len(ALL)


@pytest.mark.parametrize("made", ALL, ids=lambda made: made.name)
def test_a_file_is_read_as_its_author_meant_or_refused(made, tmp_path):
    source = made.write(tmp_path)
    if made.refused is not None:
        with pytest.raises(errors.TopicloomError, match=made.refused) as refusal:
            read_subscriptions(source, **made.options)
        assert "\n" not in str(refusal.value)
        return
    reading = read_subscriptions(source, **made.options)
    assert sorted(zip(*reading.table.select(["node", "topic"]).to_pydict().values())) == sorted(made.pairs)
    found = list(zip(reading.rejected["line"].to_pylist(), reading.rejected["reason"].to_pylist()))
    assert len(found) == len(made.rejected), found
    for (line, reason), (wanted, start) in zip(found, made.rejected):
        assert (line, reason[: len(start)]) == (wanted, start)
    counts = reading.counts
    assert counts["rows"] == counts["used"] + counts["repeated"] + counts["rejected"]


def test_zstd_is_read_with_nothing_but_the_packages_of_the_core(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)  # so that its import fails
    content = "node,topic\n" + "".join(f"n{number},t\n" for number in range(300_000))
    frames = [
        pa.Codec("zstd").compress(part, asbytes=True) for part in (content[:999].encode(), content[999:].encode())
    ]
    (tmp_path / "subs.csv.zst").write_bytes(b"".join(frames))
    assert read_subscriptions(tmp_path / "subs.csv.zst").counts["used"] == 300_000
    (tmp_path / "subs.csv.zst").write_bytes(b"".join(frames)[:-5])
    with pytest.raises(errors.UnreadableInputError, match="it is truncated"):
        read_subscriptions(tmp_path / "subs.csv.zst")
