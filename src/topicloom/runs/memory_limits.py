"""What a run takes in one process, and the refusal of what would not fit."""

from collections.abc import Mapping, Sequence
from typing import Any

from topicloom.errors import NotEnoughMemoryError
from topicloom.files.read.listing import text_bytes
from topicloom.files.read.source_plan import TableFile
from topicloom.methods.registry import AT_ONCE, MethodSpec, Size, registered, spec_of
from topicloom.methods.selection import MethodChoice

_TEXT = 6  # bytes in memory for a byte of text, rows and labels together


def check_reading(files: Sequence[TableFile], available: int) -> None:
    """Refuse files whose rows would not fit.

    Raises
    ------
    NotEnoughMemoryError
    """
    needed = _TEXT * text_bytes(files)
    if needed > available:
        raise NotEnoughMemoryError(
            f"reading {len(files):,} files takes about {needed / 2**30:.1f} GiB in one process, and "
            f"{available / 2**30:.1f} GiB are at hand; Spark reads them in parts"
        )


def interest_bytes(size: Size) -> int:
    """What holding the interest in one process takes: as it arrives, and as CSR in both orientations."""
    return 48 * size.subscriptions + 16 * (size.nodes + size.topics)


def check_memory(
    size: Size,
    method: str,
    available: int,
    *,
    workers: int | None = None,
    options: Mapping[str, Any] | None = None,
    mapped: bool = False,
) -> int:
    """Estimate the bytes that a method takes in one process. Raises when that is more than there is.

    ``workers`` is the number that a method whose tasks hold a share of the interest keeps busy at the same time; with
    None one process holds all of it, and works on a few shares at once. An interest that tasks map from files
    (``mapped``) is not held.
    """
    asked = spec_of(method)
    held, busy, at_once = size, 1, 1
    if asked.share is not None and workers is not None:
        held, busy = asked.share(size, **(options or {})), workers
    elif asked.share is not None:
        at_once = AT_ONCE
    needed = (0 if mapped else interest_bytes(held)) + at_once * asked.bytes_needed(size, options)
    if busy * needed > available:
        fitting = [
            name
            for name, spec in registered().items()
            if name != method
            and not spec.reference
            and interest_bytes(size) + spec.bytes_needed(size, _shared(spec, options)) <= available
        ]
        advice = f"; these methods would fit: {', '.join(fitting)}" if fitting else "; no method fits on this machine"
        if asked.share is not None:
            advice = "; more partitions, a smaller core or a lower merge_limit take less"
        raise NotEnoughMemoryError(
            f"{method} needs about {busy * needed / 2**30:.1f} GiB for this interest, "
            f"and {available / 2**30:.1f} GiB are at hand{advice}"
        )
    return needed


def check_side_by_side(size: Size, *, choices: Sequence[MethodChoice], cores: int, available: int) -> None:
    """Refuse methods that would not fit while as many run at once as there are cores.

    Raises
    ------
    NotEnoughMemoryError
    """
    needed = sorted(
        (check_memory(size, choice.method, available, options=choice.options) for choice in choices), reverse=True
    )
    at_once = sum(needed[:cores])
    if at_once > available:
        raise NotEnoughMemoryError(
            f"these methods need about {at_once / 2**30:.1f} GiB side by side, and {available / 2**30:.1f} GiB are at "
            "hand; run them one by one with master='local[1]'"
        )


def _shared(spec: MethodSpec, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Those of the given options that a method has as well, such as k."""
    return {name: value for name, value in (options or {}).items() if name in spec.options}
