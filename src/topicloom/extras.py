"""Parts of topicloom that need packages beyond numpy, numba, scipy, pyarrow and xxhash."""

from collections.abc import Iterator
from contextlib import contextmanager

from topicloom.errors import MissingExtraError

# Extra of pyproject.toml -> the packages whose absence it mends.
_PACKAGES = {
    "spark": ("pyspark", "pandas", "grpc", "google", "py4j"),
    "cli": ("typer", "rich"),
    "plot": ("matplotlib",),
    "networkx": ("networkx",),
    "pandas": ("pandas",),
    "deploy": ("yaml",),
    "excel": ("openpyxl", "et_xmlfile"),
}


def remedy(extra: str) -> str:
    """What to do to get the packages of an extra. No package index has topicloom, so a clone is installed.

    >>> remedy("excel")
    "in a clone: pip install '.[excel]'"
    """
    return f"in a clone: pip install '.[{extra}]'"


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Name the extra to install when an import inside the block fails.

    Parameters
    ----------
    extra : str
        One of the extras of pyproject.toml.
    what : str
        What needs it, as the start of a sentence.

    Raises
    ------
    MissingExtraError
        A package of the extra is not installed.

    Examples
    --------
    >>> with needing("plot", "drawing a comparison"):
    ...     raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
    Traceback (most recent call last):
    topicloom.errors.MissingExtraError: drawing a comparison needs matplotlib; in a clone: pip install '.[plot]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES[extra]:
            raise
        raise MissingExtraError(f"{what} needs {package}; {remedy(extra)}") from None
