"""Unpack the Mosquitto of Debian testing, with its libraries, into a folder: for a version that this machine has not.

``python tools/mosquitto_testing.py FOLDER`` downloads the packages from the mirror that apt uses here, installs
nothing, and writes ``FOLDER/bin/mosquitto``. Hashes of packages are checked against Debian's index, which is fetched
without a check of its signature. With that folder first on the PATH, rehearsals and tests run it.
"""

import hashlib
import lzma
import re
import subprocess
import sys
import urllib.request
from functools import cache
from pathlib import Path

INDEX = "dists/testing/main/binary-amd64/Packages.xz"
LEFT_OUT = {"debconf", "openssl-provider-legacy", "systemd", "sysvinit-utils"}  # nothing of theirs is run
Package = dict[str, str]


@cache
def mirror() -> str:
    """Address of the first mirror that apt has been told."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    if not found:
        sys.exit("apt has no mirror here")
    return found[0]


def fetched(path: str) -> bytes:
    with urllib.request.urlopen(mirror() + path, timeout=120) as answer:
        return bytes(answer.read())


def needed(packages: dict[str, Package], name: str) -> list[Package]:
    """A package and everything that it depends on, the first choice where there are several."""
    found: dict[str, Package] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in packages and one not in found and one not in LEFT_OUT:
            found[one] = packages[one]
            asked = f"{packages[one].get('Depends', '')},{packages[one].get('Pre-Depends', '')}"
            waiting += [re.split(r"[ (:|]", choice.strip())[0] for choice in asked.split(",")]
    return list(found.values())


def main(folder: Path) -> None:
    texts = lzma.decompress(fetched(INDEX)).decode().split("\n\n")
    entries = [dict(re.findall(r"^([\w-]+): (.*)$", text, re.MULTILINE)) for text in texts]
    packages = {entry["Package"]: entry for entry in entries if "Package" in entry}
    root, archive = folder.absolute() / "root", folder.absolute() / "package.deb"
    root.mkdir(parents=True)
    for package in needed(packages, "mosquitto"):
        data = fetched(package["Filename"])
        if hashlib.sha256(data).hexdigest() != package["SHA256"]:
            sys.exit(f"{package['Filename']} has not the hash of the index")
        archive.write_bytes(data)
        subprocess.run(["dpkg", "-x", archive, root], check=True)
    archive.unlink()
    libraries = root / "usr/lib/x86_64-linux-gnu"
    subprocess.run(["/sbin/ldconfig", "-n", libraries], check=True)
    started = folder.absolute() / "bin" / "mosquitto"
    started.parent.mkdir()
    loader = f"{libraries}/ld-linux-x86-64.so.2 --library-path {libraries}"
    started.write_text(f'#!/bin/sh\nexec {loader} {root}/usr/sbin/mosquitto "$@"\n', encoding="ascii")
    started.chmod(0o755)
    print(f"mosquitto {packages['mosquitto']['Version']} is in {started.parent}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
