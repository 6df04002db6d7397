"""What people see: messages and progress on stderr, tables on stdout, labels made safe to print."""

import os
import re
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from topicloom.kernels.notice import told_by

EVERY = 10.0  # seconds between lines of progress where stderr is no terminal
_LONGEST_LABEL = 80
_began = time.perf_counter()
_unread: list[str] = []  # of the command that runs
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_KEYWORD = re.compile(
    r"\b(overwrite|header|format|engine|expand|encoding|master|trim|skip_lines|topics_separator|[a-z]+_column)="
    r"(True|False|…|\d+|'[^']*')(?:, (?=\w+='))?"
)


def fill_standard_streams() -> None:
    """Open what the caller has closed (``>&-``) on nothing.

    Otherwise the first file that the command opens gets the number of stdout or stderr, and what Spark's JVM prints
    lands in it.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for the rest of the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def restart_clock() -> None:
    """Let a command begin now."""
    global _began  # noqa: PLW0603 - one process, one clock
    _began = time.perf_counter()
    _unread.clear()


def unread() -> list[str]:
    """Sentences on tables of this command of which too much is unread."""
    return list(dict.fromkeys(_unread))


def seconds_since_start() -> float:
    """Seconds since the command began."""
    return time.perf_counter() - _began


def complain(sentence: str) -> None:
    """One sentence on stderr."""
    print(f"topicloom: {visible(in_flags(sentence), longest=_on_terminal(sys.stderr, 2000))}", file=sys.stderr)


def tell(sentence: str) -> None:
    """A message on stderr. That too much is unread is said when the command ends."""
    if _is_unread(sentence):
        _unread.append(sentence)
        return
    print(visible(in_flags(sentence), longest=_on_terminal(sys.stderr, 2000)), file=sys.stderr, flush=True)


def _is_unread(sentence: str) -> bool:
    """Whether a sentence says that too much of a table is unread."""
    from topicloom.files.read.notes import UNREAD  # loads the readers, which --version needs not wait for

    return sentence.startswith(UNREAD)


def in_flags(sentence: str) -> str:
    """Replace the keywords that a sentence of the library names by the flags of the command line.

    >>> in_flags("perhaps node_column='a b', topic_column='t'; say header=False or format=…")
    "perhaps --node-column 'a b' --topic-column 't'; say --no-header or --format"
    >>> in_flags("perhaps src_column='a', dst_column='b'; say header=False")
    "perhaps --src-column 'a' --dst-column 'b'; say --links-no-header"
    >>> in_flags("say skip_lines=3, src_column='a', dst_column='b'")
    "say --links-skip-lines 3 --src-column 'a' --dst-column 'b'"
    """
    said = _KEYWORD.sub(_flag, sentence)
    if "--src-column" not in said and "'src'" not in said:
        return said
    return said.replace("--no-header", "--links-no-header").replace("--skip-lines", "--links-skip-lines")


def _flag(found: "re.Match[str]") -> str:
    flag = ("--no-" if found[2] == "False" else "--") + found[1].replace("_", "-")
    value = f" {found[2]}" if found[2][0] == "'" or found[2].isdecimal() else ""
    return flag + value + (" " if found[0].endswith(", ") else "")


def visible(label: str, *, longest: int | None = None) -> str:
    r"""Make a label safe to print: control and formatting characters are escaped, and it is cut if it is long.

    It is cut to ``longest`` characters, or to 80 on a terminal. What a program or a file gets is not cut by itself.

    >>> visible("a\x1b[31m")
    'a\\x1b[31m'
    """
    longest = _on_terminal(sys.stdout, _LONGEST_LABEL) if longest is None else longest
    shown = "".join(
        c if unicodedata.category(c) not in _HIDDEN else c.encode("unicode_escape", "surrogatepass").decode()
        for c in label[: longest + 1]
    )
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _on_terminal(stream: TextIO, longest: int) -> int:
    return longest if stream.isatty() else sys.maxsize - 1


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
    """Print a table: the first column is text, the others are numbers. It is plain text outside of a terminal."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(header, *shown)]
    width = None if sys.stdout.isatty() else max(sum(widths) + 2 * len(widths), cell_len(title or ""), 1)
    console = Console(markup=False, highlight=False, width=width)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", title_style="bold")
    for position, name in enumerate(header):
        table.add_column(name, justify="left" if position == 0 else "right", overflow="fold")
    for row in shown:
        table.add_row(*map(Text, row))
    console.print(table)


class Narrator:
    """Shows the stage of a run and how long it has taken. Where stderr is no terminal, it prints a line every 10 s."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None) if progress else None
        self._sentence, self._started = "", time.monotonic()

    def __call__(self, sentence: str) -> None:
        """Name what is going on now."""
        self._sentence, self._started = sentence, time.monotonic()
        if self._progress is not None and self._task is not None:
            self._progress.reset(self._task, description=visible(sentence, longest=200))

    def note(self, sentence: str) -> None:
        """A message that stays, printed above the progress."""
        if self._progress is not None and not _is_unread(sentence):
            self._progress.console.print(Text(visible(in_flags(sentence), longest=_on_terminal(sys.stderr, 2000))))
        else:
            tell(sentence)

    def tell_until(self, over: threading.Event) -> None:
        """Say every ten seconds what is going on, until it is over."""
        while not over.wait(EVERY):
            tell(f"… {self._sentence} ({time.monotonic() - self._started:,.0f} s)")


@contextmanager
def narrated(first: str) -> Iterator[Narrator]:
    """A `Narrator` for the length of a command."""
    if not sys.stderr.isatty():
        narrator, over = Narrator(None), threading.Event()
        narrator(first)
        threading.Thread(target=narrator.tell_until, args=[over], daemon=True).start()
        try:
            with told_by(tell):
                yield narrator
        finally:
            over.set()
        return
    console = Console(stderr=True, markup=False, highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        narrator = Narrator(progress)
        narrator(first)
        with told_by(narrator.note):
            yield narrator


def counted(number: int, what: str) -> str:
    """A number with the singular or the plural of what it counts.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def format_number(value: float | None, digits: int = 2) -> str:
    """Format a number for a table. None is infinite."""
    if value is None:
        return "∞"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


# key of `Metrics` and of a comparison's results -> name on screen
COLUMNS = {
    "links": "links",
    "average_degree": "avg degree",
    "max_degree": "max degree",
    "mean_topic_diameter": "mean diameter",
    "max_topic_diameter": "max diameter",
    "mean_hops": "hops",
    "unwanted_relays": "unwanted relays",
    "broken_topics": "topics broken",
    "relayed_topics": "topics relayed",
    "relaying_nodes": "by nodes",
    "survives_one_failure": "survives 1 failure",
}


_OVER_RELAYS = {
    "mean_topic_diameter": "mean_diameter_with_relays",
    "max_topic_diameter": "max_diameter_with_relays",
    "mean_hops": "hops_with_relays",
}


def cells(values: Mapping[str, Any]) -> list[str]:
    """Values as text, in the order of `COLUMNS`: None is infinite, and ``~`` marks an estimate.

    Where topics are relayed, diameters and hops are those over the relays.
    """
    about = "~" if values.get("hops_standard_error") or values.get("sampled_hops") else ""
    at_least = "≥ " if values.get("sampled_diameters") else ""
    marks = {"mean_hops": about, "mean_topic_diameter": at_least, "max_topic_diameter": at_least}
    shown = {name: values[other] for name, other in _OVER_RELAYS.items()} if values["relayed_topics"] else {}
    return [marks.get(name, "") + _cell({**values, **shown}[name]) for name in COLUMNS]


def _cell(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else format_number(value)
