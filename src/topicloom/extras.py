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


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Name the extra to install when an import inside the block fails.

    Parameters
    ----------
    extra : str
        One of the extras of ``pip install 'topicloom[…]'``.
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
    topicloom.errors.MissingExtraError: drawing a comparison needs matplotlib; pip install 'topicloom[plot]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES[extra]:
            raise
        raise MissingExtraError(f"{what} needs {package}; pip install 'topicloom[{extra}]'") from None
