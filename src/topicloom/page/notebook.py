"""A page as an object: shown in a notebook, or saved as a file."""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from topicloom.errors import OutputExistsError
from topicloom.files.write.atomic import whole_file

_HEIGHT = 900  # pixels of the frame in a notebook


@dataclass(frozen=True)
class Page:
    """A self-contained HTML page, as `Overlay.show` returns it. A notebook shows it in a frame of its own.

    Attributes
    ----------
    title : str
    text : str
        The whole file.
    """

    title: str
    text: str = field(repr=False)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the page as a file that any browser opens. It appears whole or not at all.

        Parameters
        ----------
        path : str or Path
        overwrite : bool
            Whether a file that is there may be replaced.

        Returns
        -------
        Path
            Where it stands.

        Raises
        ------
        OutputExistsError
            The file exists and ``overwrite`` is false.

        Examples
        --------
        >>> import tempfile, topicloom as tl
        >>> page = tl.design(tl.datasets.example()).show()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page.save(f"{folder}/page.html").name
        'page.html'
        """
        place = Path(path).absolute()
        if place.exists() and not overwrite:
            raise OutputExistsError(f"{place} exists; choose another place, or allow to overwrite it")
        with whole_file(place) as file:
            file.write(self.text.encode())
        return place

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts" style="width:100%;border:0"'
        return f'<iframe {frame} height="{_HEIGHT}" title="{escape(self.title)}" srcdoc="{escape(self.text)}"></iframe>'
