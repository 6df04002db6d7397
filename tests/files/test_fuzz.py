"""Some hundred sources of the fuzzer; ``make fuzz`` reads thousands."""

import pytest

from files.fuzz import table_trial, trial


def test_a_parquet_file_whose_names_are_no_text_is_refused(tmp_path):
    assert trial(7732, tmp_path)[1] is None  # found by the long run


@pytest.mark.parametrize("seed", range(0, 250, 10))
def test_what_was_written_is_read(seed, tmp_path):
    for number in range(seed, seed + 10):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "tables").mkdir()
        says, wrong = trial(number, folder)
        assert wrong is None, f"seed {number} ({says}): {wrong}"
        says, wrong = table_trial(number, folder / "tables")
        assert wrong is None, f"table {number} ({says}): {wrong}"
