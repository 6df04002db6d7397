"""Print which message brokers are installed here: tests and rehearsals run these versions."""

from collections.abc import Callable

from topicloom.deploy.rehearsal.mosquitto import mosquitto_version
from topicloom.deploy.rehearsal.nats import nats_version
from topicloom.errors import BrokerUnavailableError


def found(version: Callable[[], str]) -> str:
    try:
        return version()
    except BrokerUnavailableError as error:
        return f"none ({error})"


if __name__ == "__main__":
    print(f"brokers: mosquitto {found(mosquitto_version)}, nats-server {found(nats_version)}")
