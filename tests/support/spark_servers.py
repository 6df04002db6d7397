"""Spark's own servers, started for a test: what they print says where they listen and who has come."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pyspark

HOME = Path(pyspark.__file__).parent
LOOPBACK = {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


class Server:
    """A process of its own group that writes to ``log``; leaving the block ends the group.

    Servers choose their ports themselves and print them. A port that a test picks beforehand may
    be gone by the time the server asks for it, and a page may answer before it has anything to say.
    """

    def __init__(self, command: list[str], log: Path, **environment: str) -> None:
        self.log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                command, env=environment, cwd=log.parent, stdout=out, stderr=out, start_new_session=True
            )

    def wait_for(self, pattern: str, times: int = 1) -> str:
        """The first group of ``pattern`` (or all of it) where it was printed for the ``times``-th time."""
        deadline = time.monotonic() + 300
        while True:
            ended = self.process.poll() is not None
            said = self.log.read_text(errors="replace")
            found = list(re.finditer(pattern, said))
            if len(found) >= times:
                return found[times - 1].group(found[times - 1].lastindex or 0)
            assert not ended and time.monotonic() < deadline, said[-3000:]
            time.sleep(0.2)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: Any) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def messy_folder(folder: Path) -> Path:
    """Files of several layouts with rows that cannot be used, to be read by every kind of session alike."""
    files = {
        "a.csv": b'\xef\xbb\xbfnode;topic\r\na;x\r\nb\r\n;x\r\n"c"d;x\r\n',
        "day=1/b.jsonl": b'{"node":"a","topic":["x","y"]}\n{"node":"a","topic":"x"} more\n{"node":1.10,"topic":"y"}\n',
        "sub/c.tsv": b'node\ttopic\nc\tx\nbad\xff\tx\nd\t"open\nb\ty\n',
        "x.csv.bak": b"node,topic\nold,gone\n",
    }
    for name, content in files.items():
        (folder / "messy" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "messy" / name).write_bytes(content)
    return folder / "messy"


def rejected_of(overlay: Path) -> list[tuple[Any, ...]]:
    """Rejected rows of an overlay directory, by file and line."""
    rows = pq.read_table(overlay / "rejected").select(["file", "line", "raw", "reason"]).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def rejected_in_memory(reading: Any) -> list[tuple[Any, ...]]:
    """The same of a reading, in its own order, which is that of files and lines."""
    rows = reading.rejected.select(["file", "line", "raw", "reason"]).to_pylist()
    return [tuple(row.values()) for row in rows]
