"""``main(argv) -> exit code``: runs a command and turns what goes wrong into one clear sentence."""

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise

import typer
from typer.exceptions import TyperException

from topicloom.cli.console import complain
from topicloom.errors import TopicloomError
from topicloom.version import __version__

DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

HELP = "Topic-connected overlays for publish/subscribe: the few links over which messages reach all who want them."
# In the order of the help page.
COMMANDS = (
    "generate", "design", "compare", "verify", "measure", "drill", "routes", "diff", "plan", "join", "churn", "stream",
    "status", "study", "methods",
)  # fmt: skip


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Build the app with the command that the arguments name, or with all if they name none.

    A command loads what it needs when its module is imported, so only one is.
    """
    app = _empty_app()
    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        module = import_module(f"topicloom.cli.commands.{name}")
        app.command(name=name, epilog=module.EXAMPLE)(module.command)
    return app


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        name="topicloom",
        help=HELP,
        epilog="Start with: topicloom generate subs && topicloom design subs overlay",
        no_args_is_help=True,
        add_completion=False,
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
        0 done, 1 the check failed, 2 bad input or usage (one sentence on stderr), 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    verbose = "-v" in arguments or "--verbose" in arguments
    try:
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
        from topicloom.spark.session import SparkFailedError

        if verbose and not isinstance(error, SparkFailedError):  # that one was shown while Spark still ran
            traceback.print_exc()
        complain(f"failed unexpectedly ({type(error).__name__}): {_first_line(error)}; run again with -v to see more")
        return BAD_INPUT
    if result == INTERRUPTED:  # typer, too, turns Ctrl-C into this result
        complain(f"interrupted; {_kept(arguments)}")
    return result if isinstance(result, int) else DONE


def _kept(arguments: Sequence[str]) -> str:
    """What an interrupted command leaves behind.

    >>> _kept(["design", "subs.csv", "dc"])
    'nothing half-written is left'
    >>> _kept(["design", "subs.csv", "out", "--method", "dc"])
    'finished partitions are kept, and the same command goes on'
    """
    if arguments[:1] == ["study"]:
        return "what was measured is kept, and the same command goes on"
    if arguments[:1] == ["design"] and ("--method=dc" in arguments or ("--method", "dc") in pairwise(arguments)):
        return "finished partitions are kept, and the same command goes on"
    return "nothing half-written is left"


def _usage(error: TyperException) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return f"{message.rstrip('.')}; topicloom --help shows what there is"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else "no message"


def entry() -> None:
    """Run the ``topicloom`` command of the installed package."""
    sys.exit(main())
