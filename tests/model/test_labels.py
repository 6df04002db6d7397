"""One rule says which labels can be used, whether they are asked about one by one or as a column."""

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from topicloom.errors import InvalidInterestError
from topicloom.model.labels import MAX_LABEL_BYTES, REJECTED, ROWS, all_usable, as_text, label_of

BLANKS = [" ", "\t", "\n", "\x1c", "\x85", "\xa0", "\u2003", "\u3000"]
SIGNS = st.sampled_from([*BLANKS, "a", "é", "\N{FIRE}", "\u200b", "\x00"])
LONG = st.sampled_from(["x" * MAX_LABEL_BYTES, "é" * MAX_LABEL_BYTES])
LABELS = st.one_of(st.none(), st.text(SIGNS, max_size=3), LONG)


@given(st.lists(LABELS, max_size=6), st.integers(0, 3), st.sampled_from([pa.string(), pa.large_string()]))
@example(["a", "\u3000"], 1, pa.string())
@example(["a", "b"], 1, pa.large_string())
def test_a_column_is_usable_when_each_of_its_labels_is(labels, start, kind):
    wrong = [label_of(label, "node")[1] for label in labels[start:]]
    texts = pa.array(labels, kind).slice(start)
    assert all_usable(texts) == (not any(wrong))
    if any(wrong):
        first = next(at for at, reason in enumerate(wrong) if reason)
        with pytest.raises(InvalidInterestError, match=f"node of row {first} is"):
            as_text(texts, "node")
    else:
        assert as_text(texts, "node").to_pylist() == labels[start:]


def test_a_rejected_row_has_the_columns_of_a_row_but_for_its_role():
    assert [field for field in ROWS if field.name != "role"] == list(REJECTED)
