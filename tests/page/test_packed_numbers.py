"""What Python packs is what the page's scripts read: see also test_browser.py, which reads it with them."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.page import packed_numbers


def unpacked(text: str) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


@given(st.lists(st.integers(0, 2**62)))
def test_numbers_come_back(values: list[int]) -> None:
    assert unpacked(packed_numbers.numbers(values)) == values


@given(st.sets(st.tuples(st.integers(0, 40), st.integers(1, 40)).map(lambda p: (p[0], p[0] + p[1]))))
def test_pairs_come_back(links: set[tuple[int, int]]) -> None:
    gaps = unpacked(packed_numbers.pairs(sorted(links)))
    found, u, v = [], 0, 0
    for place, (gap, step) in enumerate(zip(gaps[::2], gaps[1::2])):
        u += gap
        v = v + step if place and not gap else u + step
        found.append((u, v))
    assert found == sorted(links)


@given(st.lists(st.sets(st.integers(0, 300))))
def test_lists_come_back(rows: list[set[int]]) -> None:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    members = [item for row in rows for item in sorted(row)]
    read = unpacked(packed_numbers.lists(indptr, members))
    lengths, gaps = read[: len(rows)], iter(read[len(rows) :])
    found = [np.cumsum([next(gaps) for _ in range(length)]).tolist() for length in lengths]
    assert found == [sorted(row) for row in rows]


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&amp;", "\u2028", '"\\', "\x00"])
def test_embedded_text_cannot_leave_its_element(text: str) -> None:
    written = packed_numbers.embedded({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert not set("<>&\u2028\u2029") & set(written)
