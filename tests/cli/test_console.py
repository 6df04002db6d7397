"""What people see while a command runs."""

import threading
import time

from topicloom.cli import console


def test_a_run_that_takes_long_says_so_where_stderr_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr(console, "EVERY", 0.01)
    with console.narrated("starting") as narrator:
        narrator("reading \x1b[31m")
        deadline = time.monotonic() + 60
        said = ""
        while said.count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
            said += capsys.readouterr().err
    assert "… reading \\x1b[31m (0 s)\n" in said
    narrating = [thread for thread in threading.enumerate() if "tell_until" in thread.name]
    for thread in narrating:
        thread.join(60)
    assert not any(thread.is_alive() for thread in narrating)
