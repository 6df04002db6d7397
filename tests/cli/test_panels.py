"""Help pages in panels, as plain text wherever they are printed."""

import os
import re
import subprocess
import sys

import pytest

from topicloom.cli import app
from topicloom.cli.app import main

PANELS_OF_DESIGN = [
    "Arguments", "Options", "Options of single methods", "How tables are read", "How links are read",
    "How Spark is reached",
]  # fmt: skip
PANELS = (*PANELS_OF_DESIGN, "How repairs are made", "Commands")


def page(capsys, *argv):
    assert main([*argv, "--help"]) == 0
    return capsys.readouterr().out


def panels(text):
    """Each heading of a help page with the names below it."""
    found = {}
    for paragraph in text.split("\n\n"):
        title, _, below = paragraph.partition(":\n")
        if title in (*PANELS, *app.PANELS):
            found[title] = re.findall(r"^  (?:-\w, )?([\w-]+)", below, re.MULTILINE)
    return found


def test_commands_are_grouped_by_what_people_do(capsys):
    shown = panels(page(capsys))
    assert list(shown) == [*app.PANELS, "Options"]
    assert {title: shown[title] for title in app.PANELS} == {title: list(names) for title, names in app.PANELS.items()}
    assert shown["Start here"][0] == "design" and sorted(app.COMMANDS) == sorted(set(app.COMMANDS))


def test_the_first_words_of_every_command_are_whole(capsys):
    assert "..." not in page(capsys).partition("Start here")[2]


def test_what_people_need_first_stands_first(capsys):
    shown = panels(page(capsys, "design"))
    assert list(shown) == PANELS_OF_DESIGN
    assert shown["Options"][:2] == ["--method", "--k"] and len(shown["Options"]) <= 16
    assert {"--merge-limit", "--rho", "--work"} <= set(shown["Options of single methods"])
    assert {"--node-column", "--separator", "--lenient"} <= set(shown["How tables are read"])
    assert shown["How Spark is reached"] == ["--master", "--remote", "--conf", "--verbose"]


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_option_stands_in_one_panel(name, capsys):
    shown = panels(page(capsys, name))
    options = [option for title, below in shown.items() if title != "Arguments" for option in below]
    assert len(options) == len(set(options)) and shown["Options"][-1] == "--help"
    for title, below in shown.items():
        for option in ("--master", "--conf", "--verbose"):
            assert option not in below or title == "How Spark is reached"


def test_a_help_page_is_plain_text_of_80_columns_without_a_terminal():
    pages = []
    for more in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb", "PYTHONIOENCODING": "ascii"}, {"FORCE_COLOR": "1"}):
        clean = {
            name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
        }
        command = [sys.executable, "-m", "topicloom", "design", "--help"]
        done = subprocess.run(command, env=clean | more, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        pages.append(done.stdout.decode("ascii"))
    assert len(set(pages)) == 1 and list(panels(pages[0])) == PANELS_OF_DESIGN
    assert max(map(len, pages[0].splitlines())) <= 80 and pages[0].replace("\n", "").isprintable()


def test_the_version_is_printed_without_loading_a_command(tmp_path):
    code = """
import sys
from topicloom.cli.app import main
assert main(["--version"]) == 0
print(*(name for name in sys.modules if name.startswith(("topicloom.cli.commands.", "numba", "pyarrow"))), sep=",")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, loaded = done.stdout.splitlines()
    assert version.startswith("topicloom ") and loaded == ""
