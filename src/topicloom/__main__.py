"""``python -m topicloom`` is the command ``topicloom``."""

import sys

from topicloom.errors import MissingExtraError


def entry() -> None:
    """Run the command of the installed package, or say which extra it needs."""
    try:
        from topicloom.cli import entry as run
    except MissingExtraError as error:
        print(f"topicloom: {error}", file=sys.stderr)
        sys.exit(2)
    run()


if __name__ == "__main__":
    entry()
