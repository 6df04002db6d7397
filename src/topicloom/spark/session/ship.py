"""The package as a zip that Spark can send to Python workers which do not have it.

Workers load it from a folder of the user's cache, into which the first of them unpacks it: numba caches kernels beside
files on disk, and a later session finds them compiled. Where that cannot be written, the package is loaded from the zip
itself, and every worker compiles for itself.
"""

import hashlib
import zipfile
from pathlib import Path

# Stands in the zip for the package, and puts the real one in its own place.
_LOADER = """\
import importlib.machinery
import importlib.util
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path


def _unpack(archive):
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "topicloom"
    target = caches / archive.stem
    if not target.is_dir():
        caches.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=caches, prefix=".unpacking-"))
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(unfinished)
        try:
            unfinished.rename(target)
        except OSError:  # another worker was faster
            shutil.rmtree(unfinished, ignore_errors=True)
    return target / "package"


_archive = Path(__file__).parents[1]
try:
    _place = _unpack(_archive)
except (OSError, RuntimeError):
    _place = _archive / "package"
_spec = importlib.machinery.PathFinder.find_spec(__name__, [str(_place)])
_module = importlib.util.module_from_spec(_spec)
sys.modules[__name__] = _module
_spec.loader.exec_module(_module)
"""
PACKAGES = ("topicloom", "topicloom_papers")  # the product, and the laboratory beside it
_SAME_DATE = (1980, 1, 1, 0, 0, 0)


def package_zip(folder: Path) -> Path:
    """Write the zip into a folder. The same code gives the same name and the same bytes."""
    root = Path(__file__).parents[3]
    files = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    sources = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    digest = hashlib.sha256(b"\0".join([_LOADER.encode(), *(name.encode() + text for name, text in sources.items())]))
    target = folder / f"topicloom-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in PACKAGES:
            packed.writestr(zipfile.ZipInfo(f"{package}/__init__.py", _SAME_DATE), _LOADER)
        for name, text in sources.items():
            packed.writestr(zipfile.ZipInfo(f"package/{name}", _SAME_DATE), text)
    return target
