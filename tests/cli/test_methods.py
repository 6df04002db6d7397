"""``topicloom methods``, and what shells complete."""

import json
import os
import subprocess
import sys

from topicloom.cli.app import main


def test_one_method_is_explained(capsys):
    assert main(["methods", "gm"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("gm\n    problem") and "Greedy Merge" in said and "--method gm" in said
    assert "Parameters" not in said and "minmax-oda\n" not in said
    assert main(["methods", "gm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "gm"


def test_an_unknown_method_is_refused_with_a_sentence(capsys):
    assert main(["methods", "gnn"]) == 2
    assert "gnn" in capsys.readouterr().err


def test_a_shell_completes_commands():
    environment = {
        **os.environ,
        "_TOPICLOOM_COMPLETE": "complete_bash",
        "COMP_WORDS": "topicloom ver",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv = ['topicloom']; from topicloom.__main__ import entry; entry()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["verify"], done.stderr
