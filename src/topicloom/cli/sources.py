"""What an argument of the command line refers to: a table, or a part of an overlay directory."""

from pathlib import Path

from topicloom.storage.atomic import recover


def part_of_overlay(argument: str, part: str) -> str:
    """The path of ``part`` if the argument is an overlay directory, else the argument."""
    folder = Path(argument)
    if "://" not in argument:
        recover(folder)
        if (folder / "run.json").is_file():
            return str(folder / part)
    return argument
