"""``main(argv) -> exit code``: runs a command and turns what goes wrong into one clear sentence."""

import atexit
import os
import sys
import traceback
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise

import typer
from typer.exceptions import TyperException

from topicloom.cli.console import complain, fill_standard_streams, restart_clock, unread
from topicloom.cli.panels import PanelCommand, PanelGroup
from topicloom.errors import TopicloomError
from topicloom.spark.session.early import end_early
from topicloom.version import __version__

NOTHING, RESUMED = "nothing half-written is left", "finished work is kept; repeat the command to resume"
DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

HELP = "Topic-connected overlays for publish/subscribe: the few links over which messages reach all who want them."
EPILOG = (
    "Start with a table of who wants what, a spreadsheet saved as .csv with the columns node and topic: "
    "topicloom design subscriptions.csv overlay && topicloom show overlay overlay.html"
)
# In the order of the help page.
PANELS = {
    "Start here": ("design", "show", "verify", "measure", "compare", "refine", "methods"),
    "From plan to brokers": ("routes", "diff", "export", "rehearse", "audit"),
    "Day two": ("churn", "stream", "status", "plan", "drill"),
    "Sites": ("join", "digest", "star-set", "join-stars"),
    "Papers, proofs and synthetic data": ("study", "bound", "check", "generate"),
}
COMMANDS = tuple(name for names in PANELS.values() for name in names)
# Commands on Spark, and how many sources they begin with.
_ON_SPARK = {"design": 1, "compare": 1, "verify": 2, "measure": 2}
# What makes a JVM of the usual kind useless, or its output visible.
_OTHERWISE = ("--engine", "--master", "--remote", "--conf", "--verbose", "-v", "--help", "-h")


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Build the app with the command that the arguments name, or with all if they name none.

    A command loads what it needs when its module is imported, so only one is, and none to print the version.
    """
    app = _empty_app()
    wanted: Collection[str] = COMMANDS
    if arguments and (arguments[0] in COMMANDS or arguments[0] == "--version"):
        wanted = arguments[:1]
    for panel, names in PANELS.items():
        for name in names:
            if name in wanted:
                _add_command(app, name, panel)
    return app


def _add_command(app: typer.Typer, name: str, panel: str) -> None:
    from topicloom.cli.option_groups import flat  # loads the readers, which --version needs not wait for

    module = import_module(f"topicloom.cli.commands.{name.replace('-', '_')}")
    enter = app.command(name=name, epilog=module.EXAMPLE, cls=PanelCommand, rich_help_panel=panel)
    enter(flat(module.command))


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        name="topicloom",
        help=HELP,
        epilog=EPILOG,
        cls=PanelGroup,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"topicloom {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        0 done, 1 the check failed or over 5 % of the rows are rejected, 2 bad input or usage (one sentence on
        stderr), 130 interrupted.
    """
    fill_standard_streams()
    restart_clock()
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    verbose = "-v" in arguments or "--verbose" in arguments
    try:
        if argv is None and arguments[0] in _ON_SPARK:
            _prepare_spark(arguments)
        result: object = app_for(arguments)(arguments, prog_name="topicloom", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        result = INTERRUPTED
    except TyperException as error:
        complain(_usage(error))
        return BAD_INPUT
    except TopicloomError as error:
        complain(str(error))
        return BAD_INPUT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the exit does not complain again
        return DONE
    except Exception as error:
        if verbose:
            traceback.print_exc()
        complain(_unforeseen(error))
        return BAD_INPUT
    finally:
        end_early()
    if result == INTERRUPTED:  # typer, too, turns Ctrl-C into this result
        complain(f"interrupted; {_kept(arguments)}")
    code = result if isinstance(result, int) else DONE
    return _doubted(code, lenient="--lenient" in arguments)


def _doubted(code: int, *, lenient: bool) -> int:
    """The exit code of a command that read tables: what rests on less than it was given is no success."""
    for sentence in unread():
        complain(f"warning: {sentence}" if lenient else f"{sentence}; see what was rejected, or say --lenient")
    return CHECK_FAILED if code == DONE and unread() and not lenient else code


def _prepare_spark(arguments: Sequence[str]) -> None:
    """Start Java while the command loads, if the arguments say at first sight that it will be wanted for little."""
    sources = [argument for argument in arguments[1 : 1 + _ON_SPARK[arguments[0]]] if not argument.startswith("-")]
    plain = not any(argument.split("=")[0] in _OTHERWISE for argument in arguments)
    if len(sources) == _ON_SPARK[arguments[0]] and plain and os.environ.get("TOPICLOOM_ENGINE", "spark") != "memory":
        from topicloom.runs.sources import is_small, part_of_overlay
        from topicloom.spark.session.session import start_java_early

        with suppress(OSError):
            if is_small(*(part_of_overlay(source, part) for source, part in zip(sources, ("subscriptions", "links")))):
                start_java_early()


def _kept(arguments: Sequence[str]) -> str:
    """What an interrupted command leaves behind.

    >>> _kept(["verify", "subs.csv", "out"])
    'nothing half-written is left'
    >>> _kept(["study", "all", "results"])
    'finished work is kept; repeat the command to resume'
    """
    if arguments[:1] == ["study"]:
        return RESUMED
    if arguments[:1] == ["refine"]:
        return "a refinement that had begun is written as far as it got"
    if arguments[:1] != ["design"] or "topicloom.methods" not in sys.modules:  # nothing has run yet
        return NOTHING
    from topicloom.methods import METHODS

    methods = [text.removeprefix("--method=") for text in arguments if text.startswith("--method=")]
    methods += [value for name, value in pairwise(arguments) if name == "--method"]
    return RESUMED if any(spec.resumable for spec in map(METHODS.get, methods) if spec) else NOTHING


def _usage(error: TyperException) -> str:
    """Say what is wrong with the arguments, what a missing one is, and which help to ask."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    missing = getattr(getattr(error, "param", None), "help", None) if message.startswith("Missing") else None
    what = f" ({missing.rstrip('.')})" if missing else ""
    context = getattr(error, "ctx", None)
    asked = context.command_path if context is not None else "topicloom"
    return f"{message.rstrip('.')}{what}; {asked} --help shows what there is"


def _unforeseen(error: Exception) -> str:
    """A sentence for what nobody foresaw: no memory, a full disk, or a mistake of ours."""
    if isinstance(error, MemoryError):
        return f"ran out of memory: {_first_line(error)}"
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        return f"the name {error.object} is not valid UTF-8, which files of Parquet need; choose another one"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {os.fsdecode(error.filename)}' if error.filename else ''}"
    return f"failed unexpectedly ({type(error).__name__}): {_first_line(error)}; run again with -v to see more"


def _first_line(error: Exception) -> str:
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except Exception as unsaid:  # what fetches its text from elsewhere may fail to
        return f"it could not say why ({type(unsaid).__name__})"
    return lines[0][:300] if lines else "no message"


def entry() -> None:
    """Run the ``topicloom`` command of the installed package.

    The process ends with the last handler of ``atexit``, and not when CPython has taken itself apart after them.
    Taking apart would end the threads of Arrow and of PySpark inside of C++, which answers by ``abort``. It would also
    end a process by SIGINT that met Ctrl-C inside an ``exec``.
    """
    code = INTERRUPTED  # of what is interrupted before main hears it
    atexit.register(lambda: _end_now(code))  # handlers run in turn, the last one first
    code = main()


def _end_now(code: int) -> None:
    """Write what is buffered, and end the process."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:  # nobody reads what is left, which is no failure
            pass
        except (OSError, ValueError):  # a full disk behind the stream, or a closed stream
            code = code or BAD_INPUT
    os._exit(code)
