"""``python -m topicloom`` is the command ``topicloom``."""

from topicloom.cli import entry

if __name__ == "__main__":
    entry()
