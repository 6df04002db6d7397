"""``topicloom check``: whether a certificate proves what it says."""

import gzip
import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from topicloom.cli.console import narrated, tell
from topicloom.cli.given import given_interest
from topicloom.cli.option_groups import Json, Subscriptions, TableOptions
from topicloom.errors import InputNotFoundError, UnreadableInputError
from topicloom.judge.certificate_checker import CertificateError, check

EXAMPLE = "Example: topicloom check proof.txt.gz subscriptions.csv    (exit code 0: proved, 1: refused)"


def command(
    certificate: Annotated[Path, typer.Argument(help="Certificate, as topicloom bound writes it.")],
    subscriptions: Subscriptions,
    *,
    table: TableOptions,
    as_json: Json = False,
) -> int:
    """Check a certificate against subscriptions: its links connect every topic, and no overlay has fewer than it says.

    The checker is plain Python in whole numbers, and shares no code with what found links and prices. Needs no Spark.
    """
    lines = _lines(certificate)
    with narrated("reading the subscriptions") as narrator:
        interest = given_interest(subscriptions, table, tell)
        nodes = [interest.node_name(v) for v in range(interest.n_nodes)]
        topics = np.asarray(interest.topic_labels if interest.topic_labels is not None else range(interest.n_topics))
        pairs = [(str(nodes[v]), str(t)) for v, t in zip(interest.nodes.tolist(), topics[interest.topics].tolist())]
        narrator("checking the certificate")
        try:
            links, bound = check(lines, pairs)  # type: ignore[no-untyped-call]  # plain Python
        except CertificateError as reason:
            if as_json:
                print(json.dumps({"ok": False, "reason": str(reason)}))
            else:
                print(f"refused: {reason}")
            return 1
    if as_json:
        print(json.dumps({"ok": True, "links": links, "bound": bound}))
    else:
        print(f"these {links:,} links connect every topic; no overlay has fewer than {bound:,}")
    return 0


def _lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
        text = gzip.decompress(content) if path.suffix == ".gz" else content
        return text.decode("ascii").splitlines()
    except FileNotFoundError:
        raise InputNotFoundError(f"{path} does not exist") from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UnreadableInputError(f"{path} is not a certificate: {error}") from None
